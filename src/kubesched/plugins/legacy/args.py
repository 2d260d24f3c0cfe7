"""Arguments of the legacy plugins: fields, defaults and checks of kubescheduler.config.k8s.io/v1beta1.

Rule: kube-scheduler v1.20 argument defaults and validation.
"""

from collections.abc import Sequence

from kubesched.config import FieldError, PluginArgs, child

__all__ = ["NodeLabelArgs"]


class NodeLabelArgs(PluginArgs):
    """Arguments of NodeLabel: label keys that a node must have or lack, and those that raise its score."""

    present_labels: tuple[str, ...] = ()
    absent_labels: tuple[str, ...] = ()
    present_labels_preference: tuple[str, ...] = ()
    absent_labels_preference: tuple[str, ...] = ()

    def validate(self, path: str) -> list[FieldError]:
        """No label is wanted both present and absent."""
        return [
            *_contradictions(child(path, "presentLabels"), self.present_labels, self.absent_labels),
            *_contradictions(
                child(path, "presentLabelsPreference"), self.present_labels_preference, self.absent_labels_preference
            ),
        ]


def _contradictions(path: str, present: Sequence[str], absent: Sequence[str]) -> list[FieldError]:
    both = next((key for key in absent if key in present), None)
    if both is None:
        return []
    lists = f"both the present([{' '.join(present)}]) and absent([{' '.join(absent)}]) label list"
    detail = f'detecting at least one label (e.g., "{both}") that exist in {lists}'
    return [FieldError.invalid(path, both, detail, help=f"remove {both} from one of the two lists")]
