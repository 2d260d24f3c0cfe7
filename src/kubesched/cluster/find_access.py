"""Finds the cluster when the user names no kubeconfig, or only a context: the default file, or the pod's own access.

Inside a pod, access is its service account and the variables of every container.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kubesched.cluster.api_access import Access
from kubesched.cluster.content import Content, Token
from kubesched.cluster.credentials import ConfiguredCredentials
from kubesched.cluster.kubeconfig import find_kubeconfigs, load_kubeconfig
from kubesched.cluster.kubeconfig_access import access_of
from kubesched.cluster.timing import Timing
from kubesched.errors import ConfigError

_SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def find_access(
    kubeconfig: str | Path | None = None,
    context: str = "",
    *,
    in_cluster: bool = False,
    environ: Mapping[str, str] = os.environ,
    timing: Timing | None = None,
) -> Access:
    """Find the API server as kubectl does: a kubeconfig that is named, KUBECONFIG, ~/.kube/config, the pod's own.

    Args:
        kubeconfig: a file, None to look for one.
        context: one of its contexts, empty for the current one.
        in_cluster: take the pod's own, whatever kubeconfigs there are.
    Raises:
        ConfigError: there is none, or it is not valid.
    """
    timing = timing or Timing()
    if in_cluster:
        return in_cluster_access(environ, timing)
    files = find_kubeconfigs(kubeconfig, environ)
    merged = load_kubeconfig(files, must_exist=bool(kubeconfig))
    if not merged.is_empty or kubeconfig or context:
        return access_of(merged, context, environ, timing)
    if is_in_cluster(environ):
        return in_cluster_access(environ, timing)
    looked = f" (looked for {', '.join(map(str, files))})" if files else ""
    raise ConfigError(
        f"no cluster: found no kubeconfig{looked}, and this process does not run in a pod; name a file with "
        "--kubeconfig (in Python, the option kubeconfig) or in KUBECONFIG"
    )


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
