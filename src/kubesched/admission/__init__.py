"""Completes new objects as an API server and its controllers do: checks, defaults, priorities, workloads' pods."""

from kubesched.admission.admission import Admission
from kubesched.admission.checks import ObjectChecker, decode_checked
from kubesched.admission.cluster_outline import Key, key_of
from kubesched.admission.daemon_nodes import may_run_daemon, node_of_daemon
from kubesched.admission.manifest_types import RollingUpdate, UpdateStrategy
from kubesched.admission.priorities import BUILT_IN_CLASSES, PriorityClasses
from kubesched.admission.stored import as_stored

__all__ = [
    "BUILT_IN_CLASSES",
    "Admission",
    "Key",
    "ObjectChecker",
    "PriorityClasses",
    "RollingUpdate",
    "UpdateStrategy",
    "as_stored",
    "decode_checked",
    "key_of",
    "may_run_daemon",
    "node_of_daemon",
]
