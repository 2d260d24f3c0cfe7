"""Names of TLS 1.2 cipher suites: those of IANA, which Kubernetes' flags have, and OpenSSL's.

Rule: Kubernetes v1.36, --tls-cipher-suites: the suites that Go does not call insecure. Those of TLS 1.3 are always on.
"""

from collections.abc import Collection
from typing import Final

from kubesched.errors import InputError

_CIPHERS: Final = {
    "AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "AES_128_CBC_SHA": "AES128-SHA",
    "AES_256_CBC_SHA": "AES256-SHA",
    "CHACHA20_POLY1305_SHA256": "CHACHA20-POLY1305",
}
_SUITES: Final = {
    f"TLS_ECDHE_{kind}_WITH_{name}": f"ECDHE-{kind}-{cipher}"
    for kind in ("ECDSA", "RSA")
    for name, cipher in _CIPHERS.items()
}
_OF_TLS_1_3: Final = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}


def openssl_names(suites: Collection[str]) -> str:
    """The list of TLS 1.2 ciphers that OpenSSL takes for some suites; "" where all of them are of TLS 1.3.

    Raises:
        InputError: one of them has another name than these.
    """
    known = {*_SUITES, *_OF_TLS_1_3}
    for suite in suites:
        if suite not in known:
            raise InputError(f'no cipher suite named "{suite}"; expected some of {", ".join(sorted(known))}')
    return ":".join(_SUITES[suite] for suite in suites if suite in _SUITES)
