"""The machine that figures come from."""

import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path


def machine() -> dict[str, str]:
    """What the figures were measured on, and how busy it was."""
    return {
        "CPU": f"{os.cpu_count()} x {_cpu_model()}",
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "libraries": ", ".join(f"{name} {version(name)}" for name in ("numpy", "msgspec")),
        "load average": " ".join(f"{value:.2f}" for value in os.getloadavg()),
    }


def _cpu_model() -> str:
    found = Path("/proc/cpuinfo")
    if found.exists():
        for row in found.read_text(encoding="utf-8").splitlines():
            if row.startswith("model name"):
                return row.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _memory() -> str:
    if sys.platform == "win32":
        return "unknown"
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
