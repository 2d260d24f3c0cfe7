"""Objects of kinds that kubesched does not decode: the metadata, and the whole JSON."""

from typing import Final

from kubesched.api.meta import KubeObject

_IRREGULAR: Final = {("metrics.k8s.io", "NodeMetrics"): "nodes", ("metrics.k8s.io", "PodMetrics"): "pods"}


class Unstructured(KubeObject, frozen=True, eq=False):
    """An object of a kind that a plugin names in `reads` and that kubesched does not decode.

    `document` has all its fields, and `raw` its JSON. Two of them are equal if their JSON is.

    Example:
        quota = make_object("scheduling.example.com/v1/Quota", "team-a", spec={"gpus": 4})
        assert quota.document["spec"]["gpus"] == 4
    """

    api_version: str = ""
    kind: str = ""

    @property
    def kind_key(self) -> str:
        """What `kind_of` returns."""
        return f"{self.api_version}/{plural_of(self.kind, self.api_version.rpartition('/')[0])}"

    @property
    def read_at(self) -> float:
        """When the object of a snapshot was read from the API server, in seconds since 1970; 0 where that is not known,
        and for what a watch brings.
        """
        return float(self.__dict__.get("source_time", 0.0))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unstructured) and self.raw == other.raw

    __hash__ = None  # type: ignore[assignment]


def plural_of(kind: str, group: str) -> str:
    """The plural of a kind, as Kubernetes makes it by default.

    Rule: apimachinery v0.36: `y` becomes `ies`, `s` becomes `ses`, anything else gets an `s`. The kinds of
    metrics.k8s.io are irregular.
    """
    if known := _IRREGULAR.get((group, kind)):
        return known
    word = kind.lower()
    if word.endswith("y"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith("s") else f"{word}s"
