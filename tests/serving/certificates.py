"""Certificates made on the spot: an authority, and what it signs."""

import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

FROM = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
UNTIL = datetime.datetime(2120, 1, 1, tzinfo=datetime.UTC)
LONG_AGO = datetime.datetime(2021, 1, 1, tzinfo=datetime.UTC)


class Authority:
    """Signs certificates and writes them, with their keys, into a folder."""

    def __init__(self, folder: Path, name: str = "test authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        self._certificate = _sign(self._name, self._key.public_key(), self._name, self._key, is_authority=True)
        self.path = self._write(f"{name}.crt", self._certificate)

    def issue(self, name: str, *, files: str = "", is_expired: bool = False) -> tuple[Path, Path]:
        """Write `FILES.crt` and `FILES.key` for a common name, and return their paths."""
        key = ec.generate_private_key(ec.SECP256R1())
        until = LONG_AGO if is_expired else UNTIL
        certificate = _sign(_name(name), key.public_key(), self._name, self._key, until=until)
        path = self._folder / f"{files or name}.key"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return self._write(f"{files or name}.crt", certificate), path

    def _write(self, file: str, certificate: x509.Certificate) -> Path:
        path = self._folder / file
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return path


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _sign(subject, public_key, issuer, issuer_key, *, is_authority=False, until=UNTIL) -> x509.Certificate:
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(FROM)
        .not_valid_after(until)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(names, critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
