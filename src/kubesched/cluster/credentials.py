"""Credentials for the API server: bearer tokens, passwords and client certificates."""

import base64
from typing import Protocol

import msgspec

from kubesched.cluster.content import Content


class Auth(msgspec.Struct, frozen=True, gc=False):
    """What one request shows of us.

    Attributes:
        authorization: the header of that name, empty for none.
        certificate, key: PEM, empty for none.
    """

    authorization: str = ""
    certificate: bytes = b""
    key: bytes = b""

    def __repr__(self) -> str:
        return f"Auth(authorization={'***' if self.authorization else ''}, key={'***' if self.key else ''})"


class Credentials(Protocol):
    """Where Auth comes from."""

    async def current(self) -> Auth:
        """What to show now."""
        ...

    async def renew(self, rejected: Auth) -> Auth:
        """What to show after the server did not accept `rejected`; the same when there is nothing newer."""
        ...


class ConfiguredCredentials(Credentials):
    """Credentials in a configuration or in files that are reloaded.

    Args:
        token: a bearer token.
        authorization: the whole header, if it is not a bearer token.
        certificate, key: PEM, both or none.
    """

    def __init__(
        self,
        *,
        token: Content | None = None,
        authorization: str = "",
        certificate: Content | None = None,
        key: Content | None = None,
    ) -> None:
        self._token = token
        self._authorization = authorization
        self._certificate = certificate
        self._key = key

    async def current(self) -> Auth:
        """Read what is due to be read again."""
        return self._read(fresh=False)

    async def renew(self, rejected: Auth) -> Auth:
        """Read all files again."""
        return self._read(fresh=True)

    def _read(self, *, fresh: bool) -> Auth:
        authorization = self._authorization
        if self._token:
            authorization = f"Bearer {self._token.read(fresh=fresh).decode('latin-1').strip()}"
        return Auth(
            authorization,
            self._certificate.read(fresh=fresh) if self._certificate else b"",
            self._key.read(fresh=fresh) if self._key else b"",
        )


def basic_authorization(username: str, password: str) -> str:
    """The header for a name and a password."""
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
