"""Carries out many simulations: in this process, on the cores of this machine, or on a Dask cluster."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.parallel.carried_out import TaskGroup as TaskGroup, carry_out as carry_out, results_of as results_of
    from kubesched.parallel.dask_cluster import connected as connected
    from kubesched.parallel.sent_runners import Sent as Sent
    from kubesched.parallel.worker import Runner as Runner
