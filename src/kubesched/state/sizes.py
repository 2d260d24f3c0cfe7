"""How much every registry of a ClusterState holds: for tests, and for whoever wonders where memory goes."""

from typing import TYPE_CHECKING

from kubesched.state.term_counts import TermCounts

if TYPE_CHECKING:
    from kubesched.state.cluster_state import ClusterState

__all__ = ["sizes"]


def sizes(state: "ClusterState") -> dict[str, int]:
    """Entries by registry. They follow the objects that there are; groups and parts also what is kept of past pods."""
    return {
        **_of_columns(state),
        **_of_parts(state),
        **_of_terms("required anti-affinity", state.required_anti_affinity),
        **_of_terms("required affinity", state.required_affinity),
        **_of_terms("preferred affinity", state.preferred_affinity),
        **_of_terms("preferred anti-affinity", state.preferred_anti_affinity),
        **state.volumes.sizes(),
        "groups": len(state.groups),
        "group bytes": state.groups.n_bytes,
    }


def _of_columns(state: "ClusterState") -> dict[str, int]:
    columns = state.columns
    return {
        "label values": sum(len(label.values) - 1 for label in columns.labels.values()),
        "resources": len(columns.allocatable),
        "host ports": len(columns.ports),
        "taint lists": len(columns.taint_lists),
        "feature lists": len(columns.feature_lists),
        "images": len(columns.images),
        **{f"placed pods, {name}": size for name, size in columns.pod_table.sizes().items()},
    }


def _of_parts(state: "ClusterState") -> dict[str, int]:
    parts = state.parts
    return {f"parts, {name}": len(table) for name, table in parts.tables().items()} | {"templates": parts.n_templates}


def _of_terms(name: str, counts: TermCounts) -> dict[str, int]:
    return {f"{name}, {kind}": size for kind, size in counts.sizes().items()}
