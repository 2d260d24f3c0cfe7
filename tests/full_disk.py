"""A disk that is full, without a disk: no file of a process can be larger than some bytes."""

import resource
import subprocess
from pathlib import Path

from tests.forks import Forks


def with_full_disk(
    forks: Forks, at: int, folder: Path, program: str, *words: object
) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, where a file ends at so many bytes with EFBIG."""
    return forks.run(
        program, *words, cwd=folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (at, at))
    )
