"""Finds the cluster when the user names no kubeconfig, or only a context."""

import os
from collections.abc import Mapping
from pathlib import Path

from kubesched.cluster.api_access import Access
from kubesched.cluster.in_cluster import in_cluster_access, is_in_cluster
from kubesched.cluster.kubeconfig import find_kubeconfigs, load_kubeconfig
from kubesched.cluster.kubeconfig_access import access_of
from kubesched.cluster.timing import Timing
from kubesched.errors import ConfigError


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
