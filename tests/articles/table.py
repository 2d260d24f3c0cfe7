"""The configurations of this folder, with the shape and the traps of those in articles on extending the scheduler."""

from pathlib import Path
from typing import NamedTuple

import yaml

FOLDER = Path(__file__).parent
PLUGIN_FILE = FOLDER / "article_plugins.py"


class Article(NamedTuple):
    """A configuration that can run.

    Attributes:
        file: in this folder.
        schedulers: the names of its profiles.
        lease: which it elects its leader with; empty for the default of the scheduler.
        plugins: classes of article_plugins.py.
        is_old: whether kube-scheduler v1.36 rejects its version.
    """

    file: str
    schedulers: tuple[str, ...]
    lease: str
    plugins: tuple[str, ...] = ()
    is_old: bool = False

    @property
    def plugin_options(self) -> list[str]:
        """The options that load the plugins."""
        return [word for name in self.plugins for word in ("--plugin", f"{PLUGIN_FILE}:{name}")]

    @property
    def lease_of_the_file(self) -> str:
        """The Lease that kube-scheduler takes."""
        return self.lease or "kube-scheduler"

    def write(self, folder: Path, port: int = 0) -> Path:
        """Write the file into a folder.

        Args:
            port: of its extender, in place of the one in the file.
        """
        text = (FOLDER / self.file).read_text()
        if self.file == "two-queue-sorts.yaml":
            text = with_one_queue_sort(text)
        for written in ("18081", "18082") if port else ():
            text = text.replace(written, str(port))
        file = folder / self.file
        file.write_text(text)
        return file


ARTICLES = (
    Article("policy-without-kind.json", ("default-scheduler",), "", is_old=True),
    Article("scheduler-with-policy.yaml", ("blue-scheduler",), "blue-scheduler", is_old=True),
    Article(
        "two-queue-sorts.yaml", ("team-1", "team-2"), "two-teams", ("skipMaintenance", "youngestFirst"), is_old=True
    ),
    Article("multipoint.yaml", ("multipoint-scheduler",), "multipoint", ("skipMaintenance",)),
    Article("points.yaml", ("points-scheduler",), "points", ("skipMaintenance",)),
    Article("disabled-star.yaml", ("star-scheduler",), "disabled-star", ("skipMaintenance",)),
)
WAY_OUT = "queueSort: {disabled: [{name: PrioritySort}], enabled: [{name: youngestFirst}]}"


def with_one_queue_sort(text: str) -> str:
    """The configuration after the advice below kube-scheduler's message has been followed."""
    document = yaml.safe_load(text)
    for profile in document["profiles"]:
        profile["plugins"].update(yaml.safe_load(WAY_OUT))
    return yaml.safe_dump(document)
