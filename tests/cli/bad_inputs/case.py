"""One broken input: the files that it needs, the command line, and what has to be said about it."""

import json
from typing import Any, NamedTuple

from tests.snapshot.builders import listed, node, pod

CLUSTER = json.dumps(listed(node("n1"), node("n2"), pod("web-1"), pod("web-2")))
HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
TEAM_ZONE = """
from kubesched import Plugin, PluginArgs

class TeamZone(Plugin):
    class Args(PluginArgs):
        bonus: int = 1
        owners: dict[str, str] = {}

    def score(self, state, pod, node):
        return self.args.bonus
"""

GOOD_FILES = {"cluster.json": CLUSTER, "good.yaml": HEADER, "team_zone.py": TEAM_ZONE}
"""What every case finds beside its own files."""


class Case(NamedTuple):
    """A command line and its end.

    Attributes:
        arguments: of kubesched, in a folder that holds the files.
        words: where the fault is, what was found, what is allowed; all of them are in the message.
        files: name -> content.
        stdin: what standard input gives.
        code: the exit code. A finding of `config check`, which is 1, is the command's result and so on standard output.
    """

    arguments: str
    words: tuple[str, ...]
    files: dict[str, bytes | str] = {}
    stdin: bytes = b""
    code: int = 2


def text_of(document: Any) -> str:
    return json.dumps(document)
