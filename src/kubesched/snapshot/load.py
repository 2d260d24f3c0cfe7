"""load_snapshot: files and manifests in, the objects of a cluster out."""

from kubesched.snapshot.bulk import paused_gc
from kubesched.snapshot.objects import ClusterObjects
from kubesched.snapshot.reader import ObjectReader, Progress
from kubesched.snapshot.sources import SourceLike, find_sources

__all__ = ["load_snapshot"]


def load_snapshot(
    *sources: SourceLike, skip_bad_objects: bool = False, progress: Progress | None = None
) -> ClusterObjects:
    """Read what `kubectl get -o json|yaml` and `kubectl cluster-info dump` write: files, folders, `-`, open streams.

    Args:
        sources: JSON or YAML, plain or packed with gzip or zstd: lists, single objects, many documents, folders of
            such files.
        skip_bad_objects: leave out an object that does not decode, and say so in `bad`, instead of raising.
        progress: called now and then with the bytes read so far and the bytes there are (0 when that is not known).
    Returns: every object that a scheduler reads, once, in the order of the files; finished pods are among them.
    Raises:
        InputError: a file that cannot be read or holds no Kubernetes objects.
        ObjectError: a bad object, or the same object twice with different content and no resourceVersion to choose by.
    """
    reader = ObjectReader(skip_bad_objects=skip_bad_objects, progress=progress)
    with paused_gc():
        reader.read(find_sources(sources))
    return ClusterObjects(tuple(reader.objects), dict(reader.skipped), tuple(reader.bad))
