"""A row of a sweep: one run with its settings, its figures, and what it is recognised by."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from kubesched.comparison import FIGURES, Measured

ROW_FIGURES: Final = tuple(one for one in FIGURES if one.name != "moved")
"""The figures of a run; `moved` compares two."""


class SweepRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run.

    Attributes:
        snapshot, configuration: their names.
        plugin_args: the arguments of plugins that were tried, as JSON; empty for none.
        pods: which pods were placed, as `--pods` has it.
        seed: of the random ties.
        figures: by name; None where the cluster has nothing to measure.
        seconds: how long the run took.
        kubernetes_version: whose rules decided.
        kubesched_version: what made the row.
        error: why there are no figures, or a plugin that failed; empty for a run without a fault.
        key: a hash of everything that the figures depend on.
    """

    snapshot: str
    configuration: str
    plugin_args: str = ""
    pods: str = "pending"
    seed: int
    figures: Measured
    seconds: float = 0.0
    kubernetes_version: str = ""
    kubesched_version: str = ""
    error: str = ""
    key: str = ""

    def as_fields(self) -> dict[str, Any]:
        """The fields of a row in a file, in their order."""
        before, after = (_FIELDS[:_N_BEFORE], _FIELDS[_N_BEFORE:])
        figures = {one.name: self.figures.get(one.name) for one in ROW_FIGURES}
        fields = {name: getattr(self, attribute) for name, attribute in before}
        return fields | figures | {name: getattr(self, attribute) for name, attribute in after}

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> "SweepRow":
        """The row that these fields describe; numbers may be texts, and missing ones empty.

        Raises:
            KeyError, TypeError, ValueError: they describe none.
        """
        values = {one.name: fields[one.name] for one in ROW_FIGURES}
        figures = {name: None if value in (None, "") else float(value) for name, value in values.items()}
        attributes: dict[str, Any] = {attribute: fields[name] or "" for name, attribute in _FIELDS}
        numbers = {"seed": int(fields["seed"]), "seconds": float(fields["seconds"])}
        return cls(**attributes | numbers, figures=figures)


_FIELDS: Final = (
    ("snapshot", "snapshot"),
    ("configuration", "configuration"),
    ("pluginArgs", "plugin_args"),
    ("pods", "pods"),
    ("seed", "seed"),
    ("seconds", "seconds"),
    ("kubernetesVersion", "kubernetes_version"),
    ("kubeschedVersion", "kubesched_version"),
    ("error", "error"),
    ("key", "key"),
)
"""Field of a file -> attribute; the figures are after the seed."""
_N_BEFORE: Final = 5
