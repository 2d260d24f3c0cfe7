"""Changes that may help a pod that fits nowhere, by the cause that keeps it from nodes. None has been tried."""

from kubesched.explanation.remedies.case import Case, Remedy
from kubesched.explanation.remedies.causes import Cause, causes, without_gates

__all__ = ["Case", "Cause", "Remedy", "causes", "without_gates"]
