"""A disk that is full, without a disk: no file of a process can be larger than some bytes."""

import os
import resource
import subprocess
import sys
from pathlib import Path


def with_full_disk(at: int, folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run Python with some words in a folder, where a file ends at so many bytes with EFBIG."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (at, at)),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
