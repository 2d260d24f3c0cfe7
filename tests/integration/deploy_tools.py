"""helm and kustomize, built from the modules that deploytools/go.mod pins, to render what is in deploy/."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.integration.build import BuildError

SOURCE = Path(__file__).parent / "deploytools"
TOOLS = ("helm", "kustomize")


def variable(tool: str) -> str:
    """The variable of the environment that names a ready tool."""
    return f"KUBESCHED_{tool.upper()}"


def can_have(tool: str) -> bool:
    """Whether a tool is named or can be built: a machine with a ready control plane may have no Go."""
    return bool(os.environ.get(variable(tool)) or shutil.which("go"))


def find_tool(tool: str) -> Path:
    """The path of a tool. Go builds it when it is asked for the first time, and keeps it in its cache.

    Raises:
        BuildError: the build fails.
    """
    if given := os.environ.get(variable(tool)):
        return Path(given)
    env = {**os.environ, "CGO_ENABLED": "0"}
    built = subprocess.run(("go", "tool", "-n", tool), cwd=SOURCE, env=env, capture_output=True, text=True)
    if built.returncode:
        raise BuildError(f"go tool {tool} in {SOURCE} fails:\n{built.stderr.strip()}")
    return Path(built.stdout.strip())


def render(*command: str | Path) -> list[dict[str, Any]]:
    """The documents that a command prints.

    Raises:
        AssertionError: it fails; with what it wrote.
    """
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]
