"""A certificate that a server makes for itself, for clients that do not check it, such as a kubelet's probes.

Rule: kube-scheduler v1.36: for `localhost` and 127.0.0.1, valid for a year; a pair that is in the folder is used again.
"""

import ipaddress
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from kubesched.errors import InputError

_HOST: Final = "localhost"
_ADDRESS: Final = ipaddress.ip_address("127.0.0.1")
_DAYS: Final = 365


def self_signed_pair(folder: Path, name: str) -> tuple[Path, Path]:
    """Write NAME.crt and NAME.key, the latter for this user only, unless both are there.

    Returns: the paths of certificate and key.
    Raises:
        InputError: they cannot be written.
    """
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    try:
        if not (certificate.exists() and key.exists()):
            folder.mkdir(parents=True, exist_ok=True)
            certificate_pem, key_pem = _make_pair()
            _write_whole(key, key_pem, mode=0o600)
            _write_whole(certificate, certificate_pem, mode=0o666)
    except OSError as error:
        raise InputError(
            f"{error.filename or folder}: the server's certificate cannot be written ({error.strerror}); "
            "give a folder that this process can write to"
        ) from error
    return certificate, key


def _write_whole(path: Path, data: bytes, *, mode: int) -> None:
    """Write a file that is there whole or not at all, so that the next start finds no half key."""
    unfinished = path.with_name(f".{path.name}.part")
    try:
        unfinished.unlink(missing_ok=True)  # one that exists keeps its mode
        unfinished.touch(mode=mode)
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


@contextmanager
def pair_in_memory(name: str) -> Iterator[tuple[Path, Path]]:
    """Make a pair for this process alone.

    Python reads certificates from files only. These have no name in any folder, so a process that is killed leaves no
    key behind. On systems other than Linux, the pair is in a temporary folder.

    Returns: the paths of certificate and key, until the end of the block.
    Raises:
        InputError: the temporary folder cannot be written.
    """
    with ExitStack() as stack:
        if not hasattr(os, "memfd_create"):
            yield self_signed_pair(Path(stack.enter_context(_temporary_folder())), name)
            return
        certificate, key = _make_pair()
        yield (
            stack.enter_context(_file_in_memory(f"{name}.crt", certificate)),
            stack.enter_context(_file_in_memory(f"{name}.key", key)),
        )


@contextmanager
def _file_in_memory(name: str, content: bytes) -> Iterator[Path]:
    with os.fdopen(os.memfd_create(name), "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(content)
        file.flush()
        yield Path(f"/proc/self/fd/{file.fileno()}")


def _temporary_folder() -> TemporaryDirectory[str]:
    try:
        return TemporaryDirectory(prefix="kubesched-")
    except OSError as error:
        raise InputError(
            f"no folder for the server's certificate ({error.strerror}); give --tls-cert-file and "
            "--tls-private-key-file, or --cert-dir with a folder that this process can write to; in Python, give "
            "certificate and key, or certificate_folder, of EndpointOptions"
        ) from error


def _make_pair() -> tuple[bytes, bytes]:
    """A certificate and its private key in PEM."""
    # A quarter of a second to import, so only for servers without a certificate.
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _HOST)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))  # for clients whose clocks are behind
        .not_valid_after(now + timedelta(days=_DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(_HOST), x509.IPAddress(_ADDRESS)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return (
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )
