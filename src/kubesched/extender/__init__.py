"""HTTP scheduler extenders: the protocol (`wire`), and the server that a stock kube-scheduler calls (`server`).

The modules are the doors; this one holds nothing.
"""

__all__: list[str] = []
