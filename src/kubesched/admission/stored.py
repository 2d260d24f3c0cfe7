"""Sets the defaults that an API server stores with cluster objects, for objects that have not met one.

A snapshot can have them: a manifest that is given as a snapshot file, or the export of a simulator.
"""

from msgspec.structs import replace

from kubesched.api import KubeObject, StorageClass


def as_stored(known: KubeObject) -> KubeObject:
    """The object as an API server stores it; the same object if it is complete.

    Rule: kube-apiserver v1.36 storage/v1 defaults: the binding mode of a StorageClass is Immediate.
    """
    if not isinstance(known, StorageClass) or known.volume_binding_mode is not None:
        return known
    stored = replace(known, volume_binding_mode="Immediate")
    stored.__dict__.update(known.__dict__)
    return stored
