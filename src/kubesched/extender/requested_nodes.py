"""Maps the nodes of a request to rows of the cluster state.

kube-scheduler shows nodes in one of two ways. Whole nodes: then, without a watch, the requests are all that
is known of the cluster. The state keeps every node that a request showed, and only bytes that differ from the kept ones
are decoded. Names: then the nodes are those of the watch. With a watch, the names count in both forms, so that the
same cluster answers both.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.admission import decode_checked
from kubesched.api import EventType, Node, WatchEvent
from kubesched.documents import describe_json_fault
from kubesched.engine import paused_gc
from kubesched.errors import ExtenderError, ObjectError
from kubesched.extender.score_texts import ScoreTexts
from kubesched.state import ClusterState, Nodes
from kubesched.wire import ExtenderArgs, parse_names

Rows = npt.NDArray[np.intp]

_FIRST_KEYS: Final = b'{"metadata":{"name":"'  # how Go begins a node
_N_FIRST: Final = len(_FIRST_KEYS)
_N_LISTS: Final = 8
_UNSEEN_SECONDS: Final = 15 * 60.0


class RequestedNodes(msgspec.Struct, frozen=True):
    """What a request asks about.

    Attributes:
        table: the nodes that are known, each once, in the request's order.
        names: theirs.
        raws: their JSON as the request has it; None where it has names only.
        unknown: names that the watch has not shown yet.
        whole_list: the request's own JSON list of names where it is exactly `names`, else None.
    """

    table: Nodes
    names: Sequence[str]
    raws: Sequence[msgspec.Raw | bytes] | None
    unknown: Sequence[str] = ()
    whole_list: bytes | None = None

    @property
    def are_many(self) -> bool:
        """Whether it is worthwhile to keep the columns of all nodes, instead of asking about these."""
        return 64 * len(self.names) >= self.table.columns.n_nodes

    @property
    def n(self) -> int:
        """How many nodes the request shows."""
        return len(self.names) + len(self.unknown)


class NodeSource:
    """Finds the rows of requests and, without a watch, keeps the nodes that they show.

    Attributes:
        n_decoded: nodes that were new or had changed, so far.
        n_unknown: names that were not known when they were asked for, so far.
        epoch: another object whenever a row may belong to another node.
        texts: what the answers to prioritize are made of.
    """

    def __init__(self, cluster_state: ClusterState, *, is_watched: bool, monotonic: Callable[[], float]) -> None:
        self._cluster_state = cluster_state
        self._is_watched = is_watched
        self._monotonic = monotonic
        self._shown: dict[bytes, tuple[bytes, str]] = {}  # name as in the JSON -> the node's JSON, its name
        self._seen_at = np.zeros(0)
        self._next_sweep = monotonic() + _UNSEEN_SECONDS
        self._lists: OrderedDict[bytes, tuple[object, RequestedNodes]] = OrderedDict()
        self.epoch = object()
        self._compact: tuple[object, dict[str, int]] = (None, {})
        self.texts = ScoreTexts(cluster_state.columns)
        self.n_decoded = 0
        self.n_unknown = 0

    def of(self, args: ExtenderArgs) -> RequestedNodes:
        """The nodes of a request.

        Raises:
            ExtenderError: it shows none, or shows them in a way that cannot be answered.
        """
        if args.nodes is not None:
            if not args.nodes:
                raise ExtenderError("Nodes.items is empty: kube-scheduler asks about at least one node")
            return self._of_nodes(args.nodes)
        if args.names is None:
            raise ExtenderError("the request has neither Nodes nor NodeNames; expected one of them")
        return self._of_names(args.names)

    def rows_changed(self) -> None:
        """Nodes came or went."""
        self.epoch = object()

    # --- names ---

    def _of_names(self, json: bytes) -> RequestedNodes:
        if not self._is_watched:
            raise ExtenderError(
                "the request has only node names, and this extender does not watch a cluster to look them up; start it "
                "with --kubeconfig, or set nodeCacheCapable: false in kube-scheduler's configuration"
            )
        kept = self._lists.get(json)
        if kept is not None and kept[0] is self.epoch:
            self._lists.move_to_end(json)
            return kept[1]
        listed = parse_names(json)
        if not listed:
            raise ExtenderError("NodeNames is empty: kube-scheduler asks about at least one node")
        requested = self._known(listed, None, json)
        if not requested.unknown:
            self._lists[json] = (self.epoch, requested)
            if len(self._lists) > _N_LISTS:
                self._lists.popitem(last=False)
        return requested

    def _known(
        self, listed: Sequence[str], raws: Sequence[msgspec.Raw | bytes] | None, json: bytes | None
    ) -> RequestedNodes:
        """The rows of some names; each name counts once."""
        row_of = self._row_of()
        if len(set(listed)) < len(listed):  # only a broken caller names a node twice
            kept = sorted({name: i for i, name in reversed(list(enumerate(listed)))}.values())
            listed = [listed[i] for i in kept]
            raws = None if raws is None else [raws[i] for i in kept]
            json = None
        try:
            rows = np.fromiter(map(row_of.__getitem__, listed), np.intp, len(listed))
            return RequestedNodes(Nodes(self._cluster_state.columns, rows), listed, raws, (), json)
        except KeyError:
            unknown = [name for name in listed if name not in row_of]
        self.n_unknown += len(unknown)
        known = [i for i, name in enumerate(listed) if name in row_of]
        names = [listed[i] for i in known]
        rows = np.array([row_of[name] for name in names], dtype=np.intp)
        some = None if raws is None else [raws[i] for i in known]
        return RequestedNodes(Nodes(self._cluster_state.columns, rows), names, some, unknown)

    def _row_of(self) -> dict[str, int]:
        """The rows by name, under keys that are adjacent in memory.

        The state's own keys lie where each node was decoded, so that every look at one waits for memory: with 5,000
        nodes that takes six times as long.
        """
        if self._compact[0] is not self.epoch:
            self._compact = (
                self.epoch,
                {name.encode().decode(): row for name, row in self._cluster_state.columns.row_of.items()},
            )
        return self._compact[1]

    # --- whole nodes ---

    def _of_nodes(self, raws: Sequence[msgspec.Raw]) -> RequestedNodes:
        if self._is_watched:
            names = [_name_in(bytes(raw), i) for i, raw in enumerate(raws)]
            return self._known(names, raws, None)
        with paused_gc():
            shown = [self._shown_node(bytes(raw), i) for i, raw in enumerate(raws)]
        requested = self._known([name for _, name in shown], [raw for raw, _ in shown], None)
        self._note_seen(requested.table.all_rows)
        return requested

    def _shown_node(self, raw: bytes, i: int) -> tuple[bytes, str]:
        """A node's JSON, as it is kept, and its name; one that is new or has changed is taken into the state."""
        key = _key_in(raw)
        kept = self._shown.get(key) if key else None
        if kept is not None and kept[0] == raw:
            return kept
        node = _decoded(raw, i)
        name = node.name
        is_new = name not in self._cluster_state.columns.row_of
        self._cluster_state.apply(WatchEvent(EventType.ADDED if is_new else EventType.MODIFIED, "Node", node))
        if is_new:
            self.rows_changed()
        self._shown[key or name.encode()] = kept = (raw, name)
        self.n_decoded += 1
        return kept

    def _note_seen(self, rows: Rows) -> None:
        """Nodes that no request has shown for a while are gone from the cluster."""
        now = self._monotonic()
        capacity = self._cluster_state.columns.capacity
        if len(self._seen_at) < capacity:
            self._seen_at = np.concatenate((self._seen_at, np.full(capacity - len(self._seen_at), now)))
        self._seen_at[rows] = now
        if now >= self._next_sweep:
            self._next_sweep = now + _UNSEEN_SECONDS / 4
            self._sweep(now - _UNSEEN_SECONDS)

    def _sweep(self, before: float) -> None:
        columns = self._cluster_state.columns
        gone = [name for name, row in columns.row_of.items() if self._seen_at[row] < before]
        for name in gone:
            node = self._cluster_state.objects.get("Node", name)
            if node is not None:
                self._cluster_state.apply(WatchEvent(EventType.DELETED, "Node", node))
        if gone:
            left = columns.row_of
            self._shown = {key: kept for key, kept in self._shown.items() if kept[1] in left}
            self.rows_changed()


def _key_in(raw: bytes) -> bytes:
    """The node's name as in the JSON that Go writes; empty where it has to be searched for."""
    if not raw.startswith(_FIRST_KEYS):
        return b""
    name = raw[_N_FIRST : raw.find(b'"', _N_FIRST)]
    return b"" if b"\\" in name else name


class _Metadata(msgspec.Struct):
    name: str = ""


class _Named(msgspec.Struct):
    metadata: _Metadata | None = None


_NAMED: Final = msgspec.json.Decoder(_Named)


def _name_in(raw: bytes, i: int) -> str:
    key = _key_in(raw)
    try:
        if key:
            return key.decode()
        metadata = _NAMED.decode(raw).metadata
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ExtenderError(f"Nodes.items[{i}]: {describe_json_fault(error, raw)}") from error
    if metadata is None or not metadata.name:
        raise ExtenderError(f"Nodes.items[{i}]: metadata.name is missing")
    return metadata.name


def _decoded(raw: bytes, i: int) -> Node:
    try:
        node = decode_checked("Node", raw)
    except (ObjectError, RecursionError) as error:
        raise ExtenderError(f"Nodes.items[{i}]: {error}") from error
    assert isinstance(node, Node)
    return node
