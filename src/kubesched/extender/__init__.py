"""HTTP scheduler extenders: the server that a stock kube-scheduler calls.

Of the server: the objects that run it in a cluster (`manifests`), and recordings answered again (`replay`).

The modules are the doors; this one holds nothing.
"""

__all__: list[str] = []
