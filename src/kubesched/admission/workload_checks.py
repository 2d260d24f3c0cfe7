"""Checks of a pod or workload of a manifest that an API server makes before controllers see it."""

from typing import Final

from kubesched.api import parse_selector
from kubesched.controllers import ManifestPodSpec, WorkloadSpec
from kubesched.errors import ObjectError, SelectorError

PARALLEL: Final = "Parallel"
"""The podManagementPolicy of a StatefulSet that creates all its pods at once."""

_POD_MANAGEMENT: Final = ("OrderedReady", PARALLEL)


def check_workload(kind: str, spec: WorkloadSpec) -> None:
    """Check the fields of a workload that its pods come from.

    Raises:
        ObjectError: one is missing or not valid.
    """
    check_pod_spec(spec.template.spec, "spec.template.spec")
    if kind != "Job":
        _check_selector(spec)
    if (policy := spec.pod_management_policy) is not None and policy not in _POD_MANAGEMENT:
        raise ObjectError(f'spec.podManagementPolicy: found "{policy}"; expected {" or ".join(_POD_MANAGEMENT)}')
    for i, template in enumerate(spec.volume_claim_templates or ()):
        if not template.name:
            raise ObjectError(
                f"spec.volumeClaimTemplates[{i}].metadata.name is missing; pods refer to the claim by this name"
            )


def check_pod_spec(spec: ManifestPodSpec, path: str) -> None:
    """Check that a pod has containers, and that its volumes have names.

    Args:
        path: of the spec, for the message.
    Raises:
        ObjectError: one is missing.
    """
    if not spec.containers:
        raise ObjectError(f"{path}.containers is missing; a pod has at least one container")
    for i, volume in enumerate(spec.volumes or ()):
        if not volume.name:
            raise ObjectError(f"{path}.volumes[{i}].name is missing; every volume has a name")


def _check_selector(spec: WorkloadSpec) -> None:
    """Rule: kube-apiserver v1.36 validation of apps/v1: the selector is there, not empty, and selects the template."""
    if spec.selector is None or not (spec.selector.match_labels or spec.selector.match_expressions):
        raise ObjectError("spec.selector is missing; it selects the labels of spec.template.metadata.labels")
    try:
        matches = parse_selector(spec.selector).matches(spec.template.metadata.labels or {})
    except SelectorError as error:
        raise ObjectError(f"spec.selector: {error}") from error
    if not matches:
        raise ObjectError("spec.template.metadata.labels: `selector` does not match template `labels`")
