"""Access to the API server from inside a pod: its service account and the variables of every container."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kubesched.cluster.api_access import Access
from kubesched.cluster.content import Content, Token
from kubesched.cluster.credentials import ConfiguredCredentials
from kubesched.cluster.timing import Timing
from kubesched.errors import ConfigError

_SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def is_in_cluster(environ: Mapping[str, str]) -> bool:
    """Whether the environment has the address of the API server, as in a pod."""
    return bool(environ.get("KUBERNETES_SERVICE_HOST") and environ.get("KUBERNETES_SERVICE_PORT"))


def in_cluster_access(environ: Mapping[str, str], timing: Timing, folder: Path = _SERVICE_ACCOUNT) -> Access:
    """Access with the pod's service account. Token and authority are read again as kubelet replaces them.

    Raises:
        ConfigError: the process is not in a pod, or the pod has no service account token.
    """
    if not is_in_cluster(environ):
        raise ConfigError(
            "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; --in-cluster works only inside a pod"
        )
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ["KUBERNETES_SERVICE_PORT"]
    token = Token("service account token", timing, path=folder / "token")
    ca = Content("service account CA", timing, path=folder / "ca.crt")
    token.read()
    ca.read()
    namespace = folder / "namespace"
    return Access(
        label="service account",
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        credentials=ConfiguredCredentials(token=token),
        ca=ca,
        namespace=namespace.read_text().strip() if namespace.exists() else "default",
    )
