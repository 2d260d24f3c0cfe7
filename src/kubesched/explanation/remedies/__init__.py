"""Changes that may help a pod that fits nowhere, by the cause that keeps it from nodes. None has been tried."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.explanation.remedies.case import ELSEWHERE, Case, Remedy
    from kubesched.explanation.remedies.causes import Cause, causes, without_gates
    from kubesched.explanation.remedies.taints import is_cordon_alone, tainted

__all__ = ["ELSEWHERE", "Case", "Cause", "Remedy", "causes", "is_cordon_alone", "tainted", "without_gates"]
