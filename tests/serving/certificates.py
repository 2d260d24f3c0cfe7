"""Certificates made on the spot: an authority, and what it signs."""

import datetime
import ipaddress
import ssl
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

FROM = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
UNTIL = datetime.datetime(2120, 1, 1, tzinfo=datetime.UTC)
LONG_AGO = datetime.datetime(2021, 1, 1, tzinfo=datetime.UTC)


class Pair(NamedTuple):
    """PEM files."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates and writes them, with their keys, into a folder.

    Args:
        is_strict: whether certificates have all that RFC 5280 asks for, and not every authority of a cluster has.
    """

    def __init__(self, folder: Path, name: str = "test authority", *, is_strict: bool = True) -> None:
        self._folder = folder
        self._is_strict = is_strict
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        self._certificate = self._sign(_named(self._name), self._key.public_key(), is_authority=True)
        self.path = self._write(f"{name}.crt", self._certificate)

    def issue(
        self,
        name: str,
        *alternatives: str,
        second_name: str = "",
        organizations: tuple[str, ...] = (),
        files: str = "",
        is_expired: bool = False,
        password: bytes = b"",
    ) -> Pair:
        """Write `FILES.crt` and `FILES.key` for a common name.

        Args:
            alternatives: names and addresses besides; `localhost` if there are none.
            second_name: another common name.
            organizations: the groups of a client.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([_alternative(one) for one in alternatives or ("localhost",)])
        subject = _name(name, *([second_name] if second_name else []), organizations=organizations)
        builder = _named(subject, LONG_AGO if is_expired else UNTIL).add_extension(names, critical=False)
        path = self._folder / f"{files or name}.key"
        lock = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock))
        return Pair(self._write(f"{files or name}.crt", self._sign(builder, key.public_key())), path)

    def server_context(self, pair: Pair, *, wants_client: bool = False) -> ssl.SSLContext:
        """What a server with this certificate speaks."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*pair)
        if wants_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.path)
        return context

    def _sign(self, builder, public_key, *, is_authority=False) -> x509.Certificate:
        builder = (
            builder.issuer_name(self._name)
            .public_key(public_key)
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )
        if self._is_strict:
            ours = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
            builder = builder.add_extension(ours, critical=False)
            builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
            if is_authority:
                builder = builder.add_extension(_SIGNS, critical=True)
        return builder.sign(self._key, hashes.SHA256())

    def _write(self, file: str, certificate: x509.Certificate) -> Path:
        path = self._folder / file
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return path


_SIGNS = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


def _name(*common_names: str, organizations: tuple[str, ...] = ()) -> x509.Name:
    parts = [(NameOID.ORGANIZATION_NAME, name) for name in organizations]
    parts += [(NameOID.COMMON_NAME, name) for name in common_names]
    return x509.Name([x509.NameAttribute(kind, name) for kind, name in parts])


def _alternative(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _named(subject: x509.Name, until: datetime.datetime = UNTIL) -> x509.CertificateBuilder:
    serial = x509.random_serial_number()
    return x509.CertificateBuilder(
        subject_name=subject, serial_number=serial, not_valid_before=FROM, not_valid_after=until
    )
