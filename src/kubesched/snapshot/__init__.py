"""Reads and writes snapshot files: Kubernetes objects in all common file formats."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.snapshot.byte_sources import (
        Source as Source,
        SourceLike as SourceLike,
        find_sources as find_sources,
        read_unpacked as read_unpacked,
    )
    from kubesched.snapshot.cluster_objects import ClusterObjects as ClusterObjects, as_read as as_read
    from kubesched.snapshot.cluster_version import version_of as version_of
    from kubesched.snapshot.fields import READ_ANNOTATIONS as READ_ANNOTATIONS, only_read_fields as only_read_fields
    from kubesched.snapshot.left_out import left_out_sentences as left_out_sentences
    from kubesched.snapshot.listed import ListedObjects as ListedObjects
    from kubesched.snapshot.loading import (
        AdmittedObjects as AdmittedObjects,
        admit_manifests as admit_manifests,
        load_snapshot as load_snapshot,
        read_pod as read_pod,
    )
    from kubesched.snapshot.missing import MissingKinds as MissingKinds, missing_kinds as missing_kinds
    from kubesched.snapshot.outlines import read_outlines as read_outlines
    from kubesched.snapshot.packing import packed_writer as packed_writer
    from kubesched.snapshot.unusable_input import SAVE_CLUSTER as SAVE_CLUSTER
    from kubesched.snapshot.writer import (
        check_target as check_target,
        replacing as replacing,
        write_snapshot as write_snapshot,
    )
