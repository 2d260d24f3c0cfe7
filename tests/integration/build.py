"""Builds Go programs that tests need, such as the test control plane, once, and keeps them outside the clone.

    python -m tests.integration.build      build the control plane if it is not there, and print where it is

KUBESCHED_CONTROLPLANE names a ready binary, which is then used as it is.
"""

import fcntl
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]
WITHOUT_TABLES = "-s -w"  # those of debuggers are a third of a program
VERSION = "k8s.io/component-base/version.gitVersion"  # which Kubernetes' own builds set in this way, too


@dataclass(frozen=True)
class GoProgram:
    """A program of this repository in Go.

    Attributes:
        name: of the file.
        title: for messages.
        source: folder.
        files: of the source; the others there do not change the program.
        verb: of the go command that builds it.
        variable: of the environment; names a ready binary.
    """

    name: str
    title: str
    source: Path
    files: tuple[str, ...]
    verb: tuple[str, ...]
    variable: str

    @property
    def kubernetes(self) -> str:
        """The version that it is built from, such as v1.36.3."""
        version = re.search(r"^\tk8s\.io/kubernetes (\S+)$", (self.source / "go.mod").read_text(), re.MULTILINE)
        assert version
        return version[1]

    @property
    def command(self) -> tuple[str, ...]:
        """Builds it; the path of the program and "." are added."""
        flags = f"-ldflags={WITHOUT_TABLES} -X {VERSION}={self.kubernetes}"
        return ("go", *self.verb, "-buildvcs=false", flags, "-o")


CONTROL_PLANE = GoProgram(
    "controlplane",
    "test control plane",
    TESTS / "integration" / "controlplane",
    ("go.mod", "go.sum", "main.go"),
    ("build",),
    "KUBESCHED_CONTROLPLANE",
)


class BuildError(Exception):
    """A Go program cannot be built; the message says why and what to do."""


def find_binary(say: Callable[[str], object], program: GoProgram = CONTROL_PLANE) -> Path:
    """The path of a Go program, built now if this source was never built on this machine.

    Builders that meet wait for the first of them.

    Args:
        say: told in one line what takes so long.
    Raises:
        BuildError: Go is missing, the build fails, or the program's variable does not name a program.
    """
    if given := os.environ.get(program.variable):
        return _given_binary(program, Path(given))
    binary = _cache_folder(program) / program.name
    if binary.exists():
        return binary
    binary.parent.mkdir(parents=True, exist_ok=True)
    with (binary.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # given back when the file is closed, whatever happens
        if not binary.exists():
            say(f"building the {program.title} (a few minutes the first time) into {binary}")
            _build(program, binary)
    return binary


def _given_binary(program: GoProgram, path: Path) -> Path:
    if not os.access(path, os.X_OK) or path.is_dir():
        source = program.source.relative_to(TESTS.parent)
        raise BuildError(
            f'{program.variable}: "{path}" is no program that can be run; '
            f"name a binary built from {source}, or unset the variable to have it built"
        )
    return path


def _cache_folder(program: GoProgram) -> Path:
    """A folder of its own for each source, build command and Go version."""
    digest = hashlib.sha256(" ".join(program.command).encode() + _go_version(program))
    for name in program.files:
        digest.update((program.source / name).read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "kubesched" / f"{program.name}-{digest.hexdigest()[:16]}"


def _go_version(program: GoProgram) -> bytes:
    try:
        return subprocess.run(("go", "version"), cwd=program.source, check=True, capture_output=True).stdout
    except FileNotFoundError:
        raise BuildError(
            f"go: not found; the {program.title} is built with it: "
            f"install Go, or name a ready binary in {program.variable}"
        ) from None
    except subprocess.CalledProcessError as error:
        raise BuildError(f"go version: {error.stderr.decode().strip()}") from None


def _build(program: GoProgram, binary: Path) -> None:
    unfinished = binary.with_name(f"{binary.name}.unfinished")
    built = subprocess.run(
        (*program.command, str(unfinished), "."),
        cwd=program.source,
        env={**os.environ, "CGO_ENABLED": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if built.returncode:
        raise BuildError(f"go {program.verb[0]} in {program.source} fails:\n{built.stdout.strip()}")
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
