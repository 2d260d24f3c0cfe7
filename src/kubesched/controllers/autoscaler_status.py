"""The nodes that cluster-autoscaler may add: its node groups, as its ConfigMap describes them.

Rule: cluster-autoscaler v1.30 writes its status as YAML, earlier versions as text. It has the sizes of a group, and not
what its nodes are; those that the group has show that, or those of its pool in another zone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from kubesched.api import POOL_LABELS, POOL_WORDS, KubeObject, Node, Unstructured, Value
from kubesched.controllers.node_shape import (
    MachineType,
    NodeShape,
    ZonesOfNodes,
    as_written,
    fewest,
    limit_of,
    machine_name,
    model_of,
)
from kubesched.controllers.site_labels import off_site
from kubesched.documents import read_yaml
from kubesched.errors import YamlError

_GROUP: Final = re.compile(r"^\s*Name:\s+(?=\S)", re.MULTILINE)
_SIZES: Final = re.compile(
    r"cloudProviderTarget=(?P<target>\d+).*?minSize=(?P<least>\d+),\s*maxSize=(?P<most>\d+)", re.DOTALL
)
_BACKOFF: Final = re.compile(r"ScaleUp:\s+Backoff")
_BACKS_OFF: Final = "cluster-autoscaler backs off"
_ZONE: Final = re.compile(r"/zones/([^/]+)/")
_OF_GKE: Final = "-grp"
_OF_EKS: Final = re.compile("^eks-|-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


class GroupSizes(NamedTuple):
    """A node group as the status describes it; `why_not` is why it does not grow now, or empty."""

    name: str
    target: int
    most: int
    why_not: str = ""

    @property
    def short(self) -> str:
        """The last part of a name that is a URL."""
        return self.name.rpartition("/")[2]

    @property
    def zone(self) -> str:
        """The zone that the name has; empty for none."""
        found = _ZONE.search(self.name)
        return found[1] if found else ""


def group_sizes(objects: Iterable[KubeObject], notes: list[str]) -> list[GroupSizes]:
    """The node groups in the ConfigMaps of cluster-autoscaler."""
    found: list[GroupSizes] = []
    for one in objects:
        if isinstance(one, Unstructured) and one.kind == "ConfigMap":
            text = str((one.document.get("data") or {}).get("status") or "")
            groups = list(_of_text(text)) or list(_of_yaml(text))
            found += groups
            if not groups:
                notes.append(f"ConfigMap {one.key} has no node groups")
    return found


def _of_text(text: str) -> Iterator[GroupSizes]:
    """Of the form before 1.30."""
    for part in _GROUP.split(text)[1:]:
        if sizes := _SIZES.search(part):
            why = _BACKS_OFF if _BACKOFF.search(part) else ""
            yield GroupSizes(part.split()[0], int(sizes["target"]), int(sizes["most"]), why)


class _Backoff(Value, frozen=True):
    error_code: str | None = None
    error_message: str | None = None


class _ScaleUp(Value, frozen=True):
    status: str = ""
    backoff_info: _Backoff | None = None


class _Health(Value, frozen=True):
    cloud_provider_target: int = 0
    max_size: int = 0


class _Group(Value, frozen=True):
    name: str
    health: _Health = _Health()
    scale_up: _ScaleUp = _ScaleUp()


class _Status(Value, frozen=True):
    node_groups: tuple[_Group, ...] | None = None


def _of_yaml(text: str) -> Iterator[GroupSizes]:
    try:
        status = msgspec.convert(next((one.value for one in read_yaml(text)), {}), _Status)
    except (YamlError, msgspec.ValidationError):
        return
    for group in status.node_groups or ():
        why = _BACKS_OFF if group.scale_up.status == "Backoff" else ""
        info = group.scale_up.backoff_info or _Backoff()
        said = [text.strip() for text in (info.error_code, info.error_message) if text]
        why += f": {': '.join(said)}" if why and said else ""
        yield GroupSizes(group.name, group.health.cloud_provider_target, group.health.max_size, why)


class AutoscalerGroups:
    """The shapes of node groups.

    Args:
        any_type: what machines of a group without nodes are taken to be; None where it has no shape then.

    Attributes:
        notes: what is not known, one sentence each.
        used: the names of the rows that describe a group.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        rows: Mapping[str, MachineType],
        places: ZonesOfNodes,
        any_type: MachineType | None = None,
    ) -> None:
        self._nodes = nodes
        self._rows = rows
        self._places = places
        self._any_type = any_type
        self.notes: list[str] = []
        self.used: set[str] = set()

    def shapes(self, groups: Iterable[GroupSizes]) -> Iterator[NodeShape]:
        """The shapes of the groups whose nodes are known."""
        for group in groups:
            own = [node for node in self._nodes if _is_of(node, group.short)]
            model = next((node for node in own if not node.unschedulable), own[0] if own else None)
            model = model or self._sibling(group)
            row = self._rows.get(machine_name(model.labels) if model else "") or self._row_of(group)
            model = self._of_row(group, row) if model is None else as_written(off_site(model), row)
            is_open = model is None
            if model is None and self._any_type is not None:
                model = model_of(group.short, self._any_type, self._pool_labels(group), ())
            if model is None:
                at_zero = f"node group {group.short} has no node, and its ConfigMap does not say what its nodes are"
                at_zero += f" ({group.why_not})" if group.why_not else ""
                self.notes.append(f"{at_zero}: a row {group.short} of a file does")
                continue
            there = {node.zone for node in own if node.zone}
            zones = tuple(sorted(there)) if there else tuple(filter(None, [group.zone]))
            of_group = (max(group.most - group.target, 0), f"maxSize {group.most}")
            sizes, price = (group.target, *fewest(of_group, limit_of(row))), None if row is None else row.price
            source = f"node group {group.short}"
            yield NodeShape(group.short, source, model, zones, {}, *sizes, price, group.why_not, is_open=is_open)

    def _pool_labels(self, group: GroupSizes) -> dict[str, str]:
        """The labels by which nodes of the cluster say their pool, with that of a group without nodes.

        Rule: an Auto Scaling group of EKS is named `eks-`, its node group, and a UUID.
        """
        keys = {key for node in self._nodes for key in _pool_keys(node)}
        return dict.fromkeys(sorted(keys), _OF_EKS.sub("", group.short))

    def _sibling(self, group: GroupSizes) -> Node | None:
        """A node of the group's pool in another zone: the name of a group of GKE has that of its pool."""
        within = f"-{group.short}-"
        is_named_so = group.short.endswith(_OF_GKE)
        alike = [node for node in self._nodes if is_named_so and any(f"-{pool}-" in within for pool in _pools(node))]
        return max(alike, key=lambda node: max(map(len, _pools(node))), default=None)

    def _row_of(self, group: GroupSizes) -> MachineType | None:
        """The row with the name of a group."""
        row = self._rows.get(group.short) or self._rows.get(group.name)
        self.used |= set() if row is None else {row.name}
        return row

    def _of_row(self, group: GroupSizes, row: MachineType | None) -> Node | None:
        if row is None:
            return None
        labels = self._places.moved({}, group.zone or next(iter(row.zones), ""))
        return model_of(group.short, row, labels, ())


def _is_of(node: Node, group: str) -> bool:
    """Whether a node is of a group: by its name, or by a label for pools.

    Rule: nodes of GKE and AKS are named after their group; a group of EKS has the name of its node group, and one of
    kOps that of its instance group.
    """
    if node.name.startswith(f"{group.removesuffix(_OF_GKE)}-") or (
        group.endswith("-vmss") and node.name.startswith(group)
    ):
        return True
    return any(pool == group or group.startswith((f"eks-{pool}-", f"{pool}.")) for pool in _pools(node))


def _pools(node: Node) -> list[str]:
    return [node.labels[key] for key in _pool_keys(node)]


def _pool_keys(node: Node) -> list[str]:
    named = (key for key in node.labels if key.rpartition("/")[2] in (*POOL_WORDS, "instancegroup"))
    return [key for key in dict.fromkeys((*POOL_LABELS, *named)) if node.labels.get(key)]
