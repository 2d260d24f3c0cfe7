"""Reads a pod to explain from a file: a pod, or the first pod of a workload."""

from typing import TYPE_CHECKING

from kubesched.cli.cluster import note

if TYPE_CHECKING:
    from kubesched.api import KubeObject, Pod
    from kubesched.release import Release
    from kubesched.snapshot import ClusterObjects


def new_pod(
    file: str, cluster: "ClusterObjects", release: "Release"
) -> "tuple[Pod, list[KubeObject], list[KubeObject]]":
    """Read the pod, as if the cluster had neither it nor its workload.

    Returns: the pod; the cluster with the other objects of the file, such as its claims; and all objects that an API
        server would then store, the pod among them.
    Raises:
        InputError: the file cannot be read, or has no pod, or several that are not of one workload.
    """
    from kubesched.api import Pod, ReplicaSet, ReplicationController, StatefulSet
    from kubesched.errors import InputError
    from kubesched.snapshot import admit_manifests, read_pod

    workloads = (Pod, ReplicaSet, ReplicationController, StatefulSet)
    others = [known for known in cluster if not isinstance(known, workloads)]
    admitted = admit_manifests(others, [file], release=release)
    pods = [known for known in admitted.objects if isinstance(known, Pod)]
    if not pods and admitted.without_pods:
        raise InputError(f"{file}: no pod to explain: {'; '.join(map(str, admitted.without_pods))}")
    if not pods:
        pod, claims = read_pod(file, cluster.objects)  # which says what the file has instead
        return pod, [*cluster, *claims], [*cluster, pod, *claims]
    for sentence in admitted.notes:
        note(sentence)
    owners = {pod.metadata.controller for pod in pods}
    if len(pods) > 1 and (len(owners) > 1 or None in owners):
        raise InputError(
            f"{file}: found {len(pods)} pods; expected a file with one Pod or one workload. kubesched fit -f {file} "
            "answers for all of them"
        )
    if len(pods) > 1:
        alike = f"{file} has {len(pods)} pods that are alike; {pods[0].key} is explained"
        note(f"{alike}; kubesched fit -f {file} answers for all")
    there = admitted.applied_to(cluster)
    others = [known for known in admitted.objects if not isinstance(known, Pod)]
    return pods[0], [*there, *others], [*there, *admitted.objects]
