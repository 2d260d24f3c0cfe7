"""Adds the commit to a package, for `kubesched --version`."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = {"wheel": "kubesched/commit.txt", "sdist": "src/kubesched/commit.txt"}


class CommitHook(BuildHookInterface[Any]):
    """Writes the file `commit.txt` into a wheel and a source distribution.

    An editable install asks git each time. A source distribution has the file already, and no repository.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a build."""
        if version == "editable" or not Path(self.root, ".git").exists():
            return
        command = ["git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"]
        described = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        if described.returncode:
            self.app.display_warning(f"no commit is known: {described.stderr.strip()}")
            return
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name, "commit.txt")
        file.write_text(described.stdout, encoding="ascii")
        build_data["force_include"][str(file)] = PLACES[self.target_name]
