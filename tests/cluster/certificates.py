"""Certificates for tests, made with openssl."""

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Pair:
    """PEM files."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        if shutil.which("openssl") is None:
            pytest.skip("no openssl on this machine")
        self._folder = folder
        self.pair = self._files(name)
        _openssl("req", "-x509", *_new_key(self.pair), "-out", self.pair.certificate, "-subj", f"/CN={name}")

    @property
    def certificate(self) -> Path:
        return self.pair.certificate

    def issue(self, name: str, alternative: str) -> Pair:
        """A certificate for a name, with an alternative such as `IP:127.0.0.1` or `DNS:api.internal`."""
        pair = self._files(name)
        _openssl(
            *("req", "-x509", *_new_key(pair), "-out", pair.certificate, "-subj", f"/CN={name}"),
            *("-addext", f"subjectAltName={alternative}", "-addext", "basicConstraints=critical,CA:FALSE"),
            *("-CA", self.pair.certificate, "-CAkey", self.pair.key),
        )
        return pair

    def server_context(self, pair: Pair, *, wants_client: bool = False) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        if wants_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.certificate)
        return context

    def _files(self, name: str) -> Pair:
        return Pair(self._folder / f"{name}.crt", self._folder / f"{name}.key")


def _new_key(pair: Pair) -> tuple[str | Path, ...]:
    return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", pair.key, "-days", "2"


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
