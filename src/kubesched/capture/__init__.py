"""Reads a live cluster for a snapshot or a command; replaces the names in a snapshot, and shrinks it."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.capture.anonymize import Anonymized as Anonymized, anonymize as anonymize
    from kubesched.capture.around import smallest_around as smallest_around
    from kubesched.capture.cluster_reader import Progress as Progress, read_live_cluster as read_live_cluster
    from kubesched.capture.trace_recorder import TraceRecorder as TraceRecorder, record_trace as record_trace
