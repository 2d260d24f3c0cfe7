"""A patch: one step of a change of a cluster, as a document and as commands."""

from typing import Any, Literal

import msgspec


class PatchTarget(msgspec.Struct, frozen=True, rename="camel"):
    """The object that a patch is for; `namespace` is empty outside namespaces."""

    api_version: str
    kind: str
    namespace: str
    name: str


class Patch(msgspec.Struct, frozen=True, rename="camel"):
    """One step of applying a fix.

    Attributes:
        text: what it does.
        target: the object that changes; None for a step that no patch takes, such as a new node.
        action: `patch`; `create`; `recreate`, for an object whose fields cannot be changed: it is deleted, and created
            with the patch; `move`, which gives a pod another node, and is done by `commands`, because kube-scheduler
            chooses the node; `delete`; empty without a target.
        patch: a JSON merge patch (RFC 7386). With `type` `strategic`, lists such as `containers` have only the entries
            that change, by their name, as in `kubectl patch` by default. With `create` the whole object. None for
            nothing, and to delete the target.
        type: `merge` or `strategic`; empty without a patch.
        commands: the lines for a shell, comments among them; empty where no command does it.

    Example:
        fix = explain(load_snapshot("cluster.json"), make_pod("big", requests={"cpu": "5"})).fixes[0]
        print([command for patch in fix.patches for command in patch.commands])
    """

    text: str
    target: PatchTarget | None = None
    action: Literal["", "patch", "create", "recreate", "move", "delete"] = ""
    patch: dict[str, Any] | None = None
    type: Literal["", "merge", "strategic"] = ""
    commands: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, PatchTarget | None, tuple[str, ...]]:
        """What two steps have in common that are one."""
        return self.text, self.target, self.commands
