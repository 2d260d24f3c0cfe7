"""The invariants of a ClusterState: everything that it keeps equals a new count.

Tests call this after every step. It is slow, and as plain as it can be: nothing of what it checks is used to check it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from kubesched.state.columns import NodeColumns
from kubesched.state.devices import Devices
from kubesched.state.facts import ClusterFacts
from kubesched.state.groups import CountedGroup, PodGroups
from kubesched.state.node_tree import NodeTree, zone_key
from kubesched.state.nodes import Nodes
from kubesched.state.objects import ObjectStore
from kubesched.state.pod_info import Identity, Part, PodInfo
from kubesched.state.pod_table import PodTable
from kubesched.state.recount import row_differences
from kubesched.state.term_counts import NamespaceLabels, TermCounts
from kubesched.state.terms import Term
from kubesched.state.volumes import VolumeUse


def check_invariants(
    facts: ClusterFacts, tree: NodeTree, placed: dict[str, PodInfo], homeless: dict[str, list[PodInfo]]
) -> None:
    """Assert that columns and relations are those of the nodes and the placed pods.

    Args:
        placed: every assumed or added pod by uid.
        homeless: those of them whose node is not known, by its name.
    """
    columns = facts.columns
    _check_rows(columns)
    _check_nodes(columns)
    _check_pods(columns, placed, homeless)
    _check_ports(columns)
    _check_tree(tree, columns)
    standing = [(row, info) for row, pods in enumerate(columns.pods) for info in pods]
    _check_groups(facts.groups, standing, columns)

    def namespace_labels(name: str) -> dict[str, str]:
        namespace = facts.objects.get("Namespace", name)
        return {} if namespace is None else namespace.labels

    for counts, strength in (
        (facts.required_anti_affinity, "required_anti_affinity"),
        (facts.required_affinity, "required_affinity"),
        (facts.preferred_affinity, "preferred_affinity"),
        (facts.preferred_anti_affinity, "preferred_anti_affinity"),
    ):
        terms = [(row, term) for row, info in standing for term in getattr(info.terms.value, strength)]
        _check_terms(counts, terms, columns, namespace_labels, facts.parts.identities)
    _check_volume_use(facts.volumes.use, standing)
    if facts.devices.is_asked:
        _check_devices(facts.devices, facts.objects, columns)


# --- columns ---


def _check_rows(columns: NodeColumns) -> None:
    """Rows are in use or free, and free ones hold nothing."""
    n_rows = columns.n_rows
    assert columns.row_of == {name: row for row, name in enumerate(columns.names) if columns.nodes[row] is not None}
    assert len(columns.nodes) == len(columns.names) == len(columns.pods) == n_rows <= columns.capacity
    assert sorted([*columns.rows.free, *columns.row_of.values()]) == list(range(n_rows))
    assert set(np.flatnonzero(columns.alive).tolist()) == set(columns.row_of.values())
    unused = ~columns.alive
    for matrix in (columns.allocatable, columns.requested, columns.non_zero_requested):
        assert matrix.shape[1] == columns.capacity
        assert not matrix[:, unused].any()
    vectors = (columns.allowed_pods, columns.n_pods, columns.unschedulable, columns.taint_ids, columns.feature_ids)
    for vector in (*vectors, *(label.codes for label in columns.labels.values()), *columns.ports.values()):
        assert len(vector) == columns.capacity
        assert not vector[unused].any()
    assert all(not columns.pods[row] for row in columns.rows.free)


def _check_nodes(columns: NodeColumns) -> None:
    """Every row has the values of its node object, and the sums of its pods."""
    images: defaultdict[str, set[int]] = defaultdict(set)
    for row, node in enumerate(columns.nodes):
        if node is None:
            continue
        assert not row_differences(columns, row)
        assert columns.taint_lists.values[columns.taint_ids[row]] == node.taints
        assert columns.feature_lists.values[columns.feature_ids[row]] == (node.status.declared_features or ())
        for key, label in columns.labels.items():
            assert label.values.values[label.codes[row]] == node.labels.get(key)
        for image in node.status.images or ():
            for name in image.names or ():
                images[name].add(row)
    assert {name: state.rows for name, state in columns.images.items()} == images
    known = [node for node in columns.nodes if node is not None]
    assert set(columns.taint_lists.values) - {None} == {(), *[node.taints for node in known]}
    columns.labels.check(node.labels for node in known)
    for key, label in columns.labels.items():
        assert label.values.n_values == 1 + len({node.labels[key] for node in known if key in node.labels})
        counted = np.bincount(label.codes, minlength=len(label.values))[1:]
        assert label.is_used[1:].tolist() == (counted > 0).tolist()
        assert label.n_labelled == counted.sum()


def _check_pods(columns: NodeColumns, placed: dict[str, PodInfo], homeless: dict[str, list[PodInfo]]) -> None:
    """Every placed pod is there once, on its node's row or among the homeless."""
    standing: Counter[str] = Counter()
    for row, pods in enumerate(columns.pods):
        for info in pods:
            standing[info.pod.uid] += 1
            assert placed[info.pod.uid] is info
            assert info.node_row == row
            assert info.pod.node_name == columns.names[row]
    for name, infos in homeless.items():
        assert infos
        assert name not in columns.row_of
        for info in infos:
            standing[info.pod.uid] += 1
            assert placed[info.pod.uid] is info
            assert info.node_row == -1
            assert info.pod.node_name == name
    assert standing == dict.fromkeys(placed, 1)


def _check_ports(columns: NodeColumns) -> None:
    """A port is taken only where a pod holds it. It may be free there: upstream's set forgets the second holder."""
    for entry, used in columns.ports.items():
        for row in np.flatnonzero(used).tolist():
            assert any(entry in info.ports.value for info in columns.pods[row])
    assert all(used.any() for used in columns.ports.values())


def _check_tree(tree: NodeTree, columns: NodeColumns) -> None:
    """The tree has every node once, in its zone."""
    zones = {name: zone for zone, names in tree._zones.items() for name in names}
    assert sum(map(len, tree._zones.values())) == len(zones)
    assert all(tree._zones.values())
    assert zones == {node.name: zone_key(node) for node in columns.nodes if node is not None}


# --- relations ---


def _check_groups(groups: PodGroups, standing: list[tuple[int, PodInfo]], columns: NodeColumns) -> None:
    for identity in {id(info.identity): info.identity for _, info in standing}.values():
        wanted = {id(group) for group in groups._groups.values() if group.predicate(identity.value)}
        assert {id(group) for group in groups.of(identity)} == wanted
    for group in groups._groups.values():
        _check_group(group, standing, columns)
    _check_pod_table(columns.pod_table, standing)


def _check_pod_table(table: PodTable, standing: list[tuple[int, PodInfo]]) -> None:
    """Every placed pod has its own slot, and its columns have its values."""
    table.settle()
    slots = [info.slot for _, info in standing]
    assert len(set(slots)) == len(slots)
    assert {slot for slot, info in enumerate(table.infos) if info is not None} == set(slots)
    for row, info in standing:
        assert table.infos[info.slot] is info
        assert (table._row[info.slot], table._place[info.slot]) == (row, info.place)
        assert (table._priority[info.slot], table._start[info.slot]) == (info.priority, info.start)
    free = [slot for slot, info in enumerate(table.infos) if info is None]
    assert sorted(table._free) == free
    assert (table._row[free] == -1).all()


def _check_group(group: CountedGroup, standing: list[tuple[int, PodInfo]], columns: NodeColumns) -> None:
    counts = np.zeros(columns.capacity, dtype=np.int64)
    for row, info in standing:
        if group.predicate(info.identity.value) and (group.includes_terminating or not info.pod.is_terminating):
            counts[row] += 1
    n_slots = len(group.counts)
    assert group.counts.tolist() == counts[:n_slots].tolist()
    assert not counts[n_slots:].any()
    for key in list(group._domains):
        label = columns.label(key)
        expected = np.bincount(label.codes, weights=counts, minlength=len(label.values))
        expected[0] = 0
        assert group.by_domain(key).tolist() == expected.tolist()


def _check_terms(
    counts: TermCounts,
    carried: list[tuple[int, Term]],
    columns: NodeColumns,
    namespace_labels: NamespaceLabels,
    identities: Iterable[Part[Identity]],
) -> None:
    wanted: Counter[tuple[str, object, str | None]] = Counter()
    for row, term in carried:
        label = columns.label(term.topology_key)
        if label.codes[row]:
            wanted[term.topology_key, term.key, label.values.values[label.codes[row]]] += 1
    counted: dict[tuple[str, object, str | None], int] = {}
    for topology_key, domains in counts._domains.items():
        for (number, code), place in domains.index.items():
            amount = int(domains.counts[place])
            assert (domains.terms[place], domains.domains[place]) == (number, code)
            assert amount > 0
            value = columns.label(topology_key).values.values[code]
            counted[topology_key, counts.terms.value(number).key, value] = amount
    assert counted == dict(wanted)
    assert counts._n_carried == wanted.total()
    assert counts.terms.n_values == len({term.key for _, term in carried})
    assert counts.meanings.n_values == len({term.key[1:4] for _, term in carried})
    for identity in identities if wanted else ():
        pod, labels = identity.value, namespace_labels(identity.value.namespace)
        matching = counts.about(identity, namespace_labels)
        for number, known in enumerate(counts.terms.values):
            if known is not None and counts._n_carried:
                is_meant = known.matches(pod.namespace, pod.labels, labels)
                assert is_meant == (matching is not None and bool(matching[number]))


def _check_volume_use(use: VolumeUse, standing: list[tuple[int, PodInfo]]) -> None:
    claim_rows: defaultdict[str, Counter[int]] = defaultdict(Counter)
    direct_uses: Counter[str] = Counter()
    disks: defaultdict[tuple[str, ...], defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for row, info in standing:
        for claim in info.volumes.claims:
            key = f"{info.pod.namespace}/{claim.name}"
            claim_rows[key][row] += 1
            direct_uses[key] += not claim.is_ephemeral
        for disk in info.volumes.disks:
            disks[disk.key][row][not disk.read_only] += 1
    assert use.claim_rows == claim_rows
    assert use.direct_uses == {key: n for key, n in direct_uses.items() if n}
    assert use._disks == disks


def _check_devices(devices: Devices, objects: ObjectStore, columns: NodeColumns) -> None:
    """Pools, what is in use and which rows are alike: as if the objects had just been loaded."""
    loaded = ObjectStore()
    for kind in ("DeviceClass", "ResourceClaim", "ResourceSlice"):
        for obj in objects.list(kind):
            loaded.put(kind, obj)
    fresh = Devices(columns, loaded, devices.release)
    for row in columns.row_of.values():
        assert _pools(devices, row) == _pools(fresh, row)
    for table in ("_takers", "_sharers", "_consumed"):
        assert getattr(devices.in_use, table) == getattr(fresh.in_use, table)
    nodes = Nodes(columns, np.array(list(columns.row_of.values()), dtype=np.intp))
    for reads in devices.kept_reads:
        both = (devices.alike(nodes, reads).tolist(), fresh.alike(nodes, reads).tolist())
        assert len(set(zip(*both, strict=True))) == len(set(both[0])) == len(set(both[1]))


def _pools(devices: Devices, row: int) -> list[dict[str, object]]:
    return [
        {name: getattr(pool, name) for name in pool.__struct_fields__}
        | {name: [(device.id, device.spec) for device in getattr(pool, name)] for name in ("devices", "elsewhere")}
        for pool in devices.pools_of(row)
    ]
