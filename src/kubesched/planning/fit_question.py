"""What is asked about new pods: how many, on which nodes, and what becomes of the pods that are there."""

from typing import Final

import msgspec

from kubesched.api import Node
from kubesched.errors import InputError

_MAX_PODS: Final = 500_000


class FitQuestion(msgspec.Struct, frozen=True):
    """The arguments of `fit` about the answer."""

    replicas: int | None = None
    maximum: bool = False
    nodes_like: str | Node = ""
    n_nodes: int | None = None
    add: bool = False
    rollout: bool = False
    alone: bool = False
    keeps_objects: bool = False

    @property
    def searches_nodes(self) -> bool:
        """Whether the number of nodes is what is asked for."""
        return bool(self.nodes_like) and self.n_nodes is None

    @property
    def is_search(self) -> bool:
        """Whether a number is what is asked for."""
        return self.maximum or self.searches_nodes

    @property
    def changes_all(self) -> bool:
        """Whether workloads whose template is the same are changed as well."""
        return self.add or self.rollout or self.is_search

    def check(self) -> None:
        """Refuse arguments that are mutually exclusive.

        Raises:
            InputError: some are, or one is not valid.
        """
        if self.replicas is not None and self.maximum:
            raise InputError("replicas and maximum are mutually exclusive: one gives the number, the other asks for it")
        if self.replicas is not None and not 1 <= self.replicas <= _MAX_PODS:
            raise InputError(f"replicas: found {self.replicas}; expected 1 to {_MAX_PODS}")
        if self.n_nodes is not None and not self.nodes_like:
            raise InputError("n_nodes needs nodes_like: the shape of the new nodes")
        if self.maximum and self.searches_nodes:
            raise InputError("maximum needs the number of new nodes: the largest number of pods grows with it")
        if self.keeps_objects and self.is_search:
            raise InputError("keeps_objects and a search are mutually exclusive: give the number of pods and of nodes")
        if self.keeps_objects and self.alone:
            raise InputError(
                "keeps_objects and alone are mutually exclusive: pods that are pending belong to the cluster"
            )
        if self.rollout and self.is_search:
            raise InputError("rollout and a search are mutually exclusive: give the number of pods and of nodes")
        if self.add and self.rollout:
            raise InputError("add and rollout are mutually exclusive: existing pods stay, or are replaced")
