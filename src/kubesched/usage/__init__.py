"""NodeUsage, a bundled plugin: prefers nodes by what is really used on them, from metrics.k8s.io or Prometheus."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.usage.node_usage import NodeUsage as NodeUsage
