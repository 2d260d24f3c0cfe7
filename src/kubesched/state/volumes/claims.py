"""Claims for the volume rules: class, size, binding and owner."""

from kubesched.api import BIND_COMPLETED, CLASS_ANNOTATION, PersistentVolume, PersistentVolumeClaim, Pod, parse_quantity


def storage_class_of(obj: PersistentVolume | PersistentVolumeClaim) -> str:
    """The storage class of a claim or a volume, empty for none; the old annotation wins."""
    written = obj.annotations.get(CLASS_ANNOTATION)
    return (obj.spec.storage_class_name or "") if written is None else written


def storage_request(claim: PersistentVolumeClaim) -> int | None:
    """How much a claim asks for, in billionths of a byte; None where it does not say.

    Raises:
        QuantityError: the text is not a quantity.

    Example:
        claim = make_object("PersistentVolumeClaim", "data", spec={"resources": {"requests": {"storage": "1Gi"}}})
        assert storage_request(claim) == 2**30 * 10**9
    """
    requests = claim.spec.resources.requests if claim.spec.resources else None
    text = requests.get("storage") if requests else None
    return None if text is None else parse_quantity(text)


def is_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether claim and volume have been bound for good."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.annotations


def not_owned(claim: PersistentVolumeClaim, pod: Pod) -> str:
    """What is wrong with an ephemeral volume's claim that was not made for the pod."""
    return f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"
