"""The API server's audit log: which writes programs have sent."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Write = tuple[str, str, str]
"""Verb; resource, with subresource; name of the object, for an event that of the object it is about."""

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "Request", "verbs": ["create", "update", "patch", "delete", "deletecollection"]},
        {"level": "None"},
    ],
}


class AuditLog:
    """The log of an API server that runs, or will.

    Attributes:
        folder: takes the policy and the log.
    """

    def __init__(self, folder: Path) -> None:
        self._policy_file = folder / "audit-policy.json"
        self._log_file = folder / "audit.log"

    def flags(self) -> tuple[str, ...]:
        """What makes an API server write it, each request before it is answered."""
        self._policy_file.write_text(json.dumps(POLICY))
        return f"--audit-policy-file={self._policy_file}", f"--audit-log-path={self._log_file}"

    def end(self) -> int:
        """Where it ends now, in bytes."""
        return self._log_file.stat().st_size if self._log_file.exists() else 0

    def writes(self, start: int, agents: Sequence[str]) -> Iterator[Write]:
        """What programs have written, in order; also what was refused.

        Args:
            start: an earlier `end()`.
            agents: how the User-Agent of those programs begins.
        """
        return map(_write_of, self.entries(start, agents))

    def entries(self, start: int, agents: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The same as the log has them, with the bodies of the requests."""
        with self._log_file.open("rb") as log:
            log.seek(start)
            lines = [line for line in log if line.endswith(b"\n")]
        for entry in map(json.loads, lines):
            if entry.get("userAgent", "").startswith(tuple(agents)):
                yield entry


def _write_of(entry: dict[str, Any]) -> Write:
    target = entry["objectRef"]
    resource, name = target["resource"], target.get("name", "")
    if resource == "events":
        name = name.rpartition(".")[0]
    if part := target.get("subresource"):
        resource = f"{resource}/{part}"
    return entry["verb"], resource, name
