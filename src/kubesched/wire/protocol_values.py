"""What the requests and answers of the extender protocol consist of."""

import msgspec

Raw = msgspec.Raw
Body = bytes | bytearray | memoryview
"""What a request or an answer is as bytes."""


class ExtenderArgs(msgspec.Struct, frozen=True):
    """The request of filter and prioritize.

    Attributes:
        pod: the pod's JSON.
        nodes: the JSON of each node, in the request's order; None where the request has names only.
        names: the JSON list of node names; None where the request has none.
    """

    pod: Raw
    nodes: list[Raw] | None
    names: bytes | None


class MetaPod(msgspec.Struct, frozen=True, gc=False, rename={"uid": "UID"}):
    """A victim by uid."""

    uid: str = ""


class MetaVictims(msgspec.Struct, frozen=True, rename={"pods": "Pods", "n_pdb_violations": "NumPDBViolations"}):
    """The victims of one node by uid."""

    pods: tuple[MetaPod, ...] = ()
    n_pdb_violations: int = 0


class Victims(msgspec.Struct, frozen=True, rename={"pods": "Pods", "n_pdb_violations": "NumPDBViolations"}):
    """The victims of one node as whole pods, each its JSON."""

    pods: tuple[Raw, ...] = ()
    n_pdb_violations: int = 0


class PreemptionArgs(msgspec.Struct, frozen=True):
    """The request of preempt: one of the two maps, the other is None.

    Attributes:
        pod: the preemptor's JSON.
        victims, meta_victims: by node name, in the request's order.
    """

    pod: Raw
    victims: dict[str, Victims] | None
    meta_victims: dict[str, MetaVictims] | None


class BindingArgs(msgspec.Struct, frozen=True):
    """The request of bind."""

    pod_name: str
    pod_namespace: str
    pod_uid: str
    node: str


class FilterAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to filter.

    Attributes:
        names: the survivors by name; None where the answer has none.
        nodes: the survivors as whole nodes, each its JSON; None where the answer has none.
        failed: node name -> why, where evicting pods may help.
        unresolvable: the same where it does not.
        error: why the extender could not answer; everything else is ignored then.
    """

    names: list[str] | None = None
    nodes: list[Raw] | None = None
    failed: dict[str, str] = {}
    unresolvable: dict[str, str] = {}
    error: str = ""


class HostPriority(msgspec.Struct, frozen=True, gc=False, rename={"host": "Host", "score": "Score"}):
    """The score of one node, 0..10."""

    host: str
    score: int
