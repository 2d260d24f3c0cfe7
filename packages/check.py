"""`make release-check`: build what a release consists of, and try each built thing as a user gets it.

It pushes nothing. The packages are built from what is committed or changed here; each is installed into an environment
of its own, with the newest and with the oldest versions of its dependencies, and passes the smoke test.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from packages.smoke import smoke_test

ROOT: Final = Path(__file__).parents[1]
HERE: Final = Path(__file__).parent


def run(*command: str | Path) -> str:
    """What a command prints; its errors end the check."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(
            f"release-check: {' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def environment(folder: Path, *requirements: str | Path) -> Path:
    """The programs of a new virtual environment."""
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements)
    return folder / "bin"


def checked_packages(room: Path) -> tuple[Path, Path]:
    """The source distribution, and the wheel that is built from it."""
    tools = environment(room / "tools", "--requirement", HERE / "requirements.txt")
    run(tools / "validate-pyproject", "pyproject.toml")
    run(tools / "python", "-m", "build", "--outdir", room / "dist")
    (source,), (wheel,) = (room / "dist").glob("*.tar.gz"), (room / "dist").glob("*.whl")
    run(tools / "twine", "check", "--strict", source, wheel)
    run(tools / "check-wheel-contents", wheel)
    return source, wheel


def installed(room: Path, source: Path, wheel: Path) -> Iterator[tuple[str, Path]]:
    """The command of each way to install the packages, by its name."""
    yield "wheel, newest dependencies", environment(room / "newest", wheel)
    yield "wheel, oldest dependencies", environment(room / "oldest", "--constraint", HERE / "oldest.txt", wheel)
    yield "wheel, all extras", environment(room / "extras", f"kubesched[all] @ {wheel.as_uri()}")
    yield "source distribution", environment(room / "source", source)


def main() -> None:
    """Check everything, and print what each built thing weighs and takes."""
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        packages = checked_packages(room)
        for package in packages:
            print(f"release-check: {package.name}, {package.stat().st_size / 1e6:.1f} MB", flush=True)
        for number, (what, programs) in enumerate(installed(room, *packages)):
            folder = room / f"smoke-{number}"
            folder.mkdir()
            seconds = smoke_test(str(programs / "kubesched"), folder)
            took = ", ".join(f"{question} {taken:.1f} s" for question, taken in seconds.items())
            print(f"release-check: {what}: {took}", flush=True)
        version = run(room / "newest" / "bin" / "kubesched", "--version").splitlines()[0]
        if ", commit " not in version:
            sys.exit(f"release-check: the wheel does not name its commit: {version}")
        print(f"release-check: passed; {version}")


if __name__ == "__main__":
    main()
