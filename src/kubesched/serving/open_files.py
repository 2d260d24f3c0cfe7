"""Raises the limit on open files: every connection needs one, and login shells allow 1024."""

import logging
import sys
from typing import Final

_SPARE: Final = 256  # for logs, libraries, and our connections to others

_LOG: Final = logging.getLogger(__name__)


def allow_connections(n: int) -> None:
    """Raise the limit of the process, as far as allowed, to so many connections; log a warning if that is too few."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = n + _SPARE
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    except (OSError, ValueError):
        allowed = soft
    if allowed < wanted:
        _LOG.warning(
            "the limit on open files is %d; %d connections need %d, so some may have to wait (see ulimit -n)",
            allowed,
            n,
            wanted,
        )
