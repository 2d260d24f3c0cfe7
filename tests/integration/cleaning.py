"""A clean slate between two tests that share a control plane."""

from concurrent.futures import ThreadPoolExecutor

from kubesched.api import KINDS
from tests.integration.api_client import ApiClient
from tests.kinds import SERVED_KINDS

# What the API server makes for itself, and would make again.
OWN_NAMESPACES = {"default", "kube-node-lease", "kube-public", "kube-system"}
OWN_OBJECTS = {
    "PriorityClass": {"fieldSelector": "metadata.name!=system-cluster-critical,metadata.name!=system-node-critical"},
    "Lease": {"labelSelector": "apiserver.kubernetes.io/identity!=kube-apiserver"},
}
# Each service has an address of the cluster, which only single deletions give back.
ONE_BY_ONE = ("Service",)
# Optional kinds that the test control plane has.
DEVICES = ("DeviceClass", "ResourceSlice", "ResourceClaim", "ResourceClaimTemplate")
CLEARED = (*SERVED_KINDS, *DEVICES)


def clear(client: ApiClient) -> None:
    """Delete everything that tests have made, of all kinds that a scheduler reads or writes."""
    namespaces = {found["metadata"]["name"] for found in client.read_all("Namespace")}
    for claim in client.read_all("ResourceClaim"):  # a finalizer keeps an allocated one until a controller frees it
        name, namespace = claim["metadata"]["name"], claim["metadata"]["namespace"]
        if claim["metadata"].get("finalizers"):
            client.patch("ResourceClaim", name, {"metadata": {"finalizers": None}}, namespace)
    with ThreadPoolExecutor(8) as pool:
        in_namespaces = [kind for kind in CLEARED if KINDS[kind].namespaced] + ["Event", "Lease"]
        work = [(kind, namespace) for namespace in namespaces for kind in in_namespaces if kind not in ONE_BY_ONE]
        work += [(kind, "") for kind in CLEARED if not KINDS[kind].namespaced and kind != "Namespace"]
        done = [pool.submit(client.delete_all, kind, place, **OWN_OBJECTS.get(kind, {})) for kind, place in work]
        done += [pool.submit(_delete_services, client)]
        for future in done:
            future.result()
    for name in namespaces - OWN_NAMESPACES:
        _delete_namespace(client, name)


def _delete_services(client: ApiClient) -> None:
    for service in client.read_all("Service"):
        name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
        if (namespace, name) != ("default", "kubernetes"):
            client.delete("Service", name, namespace)


def _delete_namespace(client: ApiClient, name: str) -> None:
    """Without controllers somebody has to say that the namespace is empty."""
    client.delete("Namespace", name)
    left = client.get("Namespace", name)
    left["spec"]["finalizers"] = []
    client.call("PUT", f"/api/v1/namespaces/{name}/finalize", left)
