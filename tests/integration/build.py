"""Builds the test control plane once and keeps it outside the clone.

    python -m tests.integration.build      build it if it is not there, and print where it is

KUBESCHED_CONTROLPLANE names a ready binary, which is then used as it is.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

SOURCE = Path(__file__).parent / "controlplane"
SOURCE_FILES = ("go.mod", "go.sum", "main.go")
BUILD = ("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o")  # no tables for debuggers: a third smaller


class BuildError(Exception):
    """The control plane cannot be built; the message says why and what to do."""


def find_binary(say: Callable[[str], object]) -> Path:
    """The path of the test control plane, built now if this source was never built on this machine.

    Builders that meet wait for the first of them.

    Args:
        say: told in one line what takes so long.
    Raises:
        BuildError: Go is missing, the build fails, or KUBESCHED_CONTROLPLANE names no program.
    """
    if given := os.environ.get("KUBESCHED_CONTROLPLANE"):
        return _given_binary(Path(given))
    binary = _cache_folder() / "controlplane"
    if binary.exists():
        return binary
    binary.parent.mkdir(parents=True, exist_ok=True)
    with (binary.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # given back when the file is closed, whatever happens
        if not binary.exists():
            say(f"building the test control plane (a few minutes the first time) into {binary}")
            _build(binary)
    return binary


def _given_binary(path: Path) -> Path:
    if not os.access(path, os.X_OK) or path.is_dir():
        raise BuildError(
            f'KUBESCHED_CONTROLPLANE: "{path}" is no program that can be run; '
            "name a binary built from tests/integration/controlplane, or unset the variable to have it built"
        )
    return path


def _cache_folder() -> Path:
    """A folder of its own for each source, build command and Go version."""
    digest = hashlib.sha256(" ".join(BUILD).encode() + _go_version())
    for name in SOURCE_FILES:
        digest.update((SOURCE / name).read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "kubesched" / f"controlplane-{digest.hexdigest()[:16]}"


def _go_version() -> bytes:
    try:
        return subprocess.run(("go", "version"), cwd=SOURCE, check=True, capture_output=True).stdout
    except FileNotFoundError:
        raise BuildError(
            "go: not found; integration tests build a control plane with it: "
            "install Go, or name a ready binary in KUBESCHED_CONTROLPLANE"
        ) from None
    except subprocess.CalledProcessError as error:
        raise BuildError(f"go version: {error.stderr.decode().strip()}") from None


def _build(binary: Path) -> None:
    unfinished = binary.with_name("controlplane.unfinished")
    built = subprocess.run(
        (*BUILD, str(unfinished), "."),
        cwd=SOURCE,
        env={**os.environ, "CGO_ENABLED": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if built.returncode:
        raise BuildError(f"go build in {SOURCE} fails:\n{built.stdout.strip()}")
    unfinished.rename(binary)


def main() -> int:
    """Build, print the path, and end with 0; or say what is wrong and end with 1."""
    try:
        path = find_binary(lambda line: sys.stderr.write(f"{line}\n"))
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
