"""The test kit for plugin authors: builders for objects, calls of one plugin without a cluster, contract checks."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.testing.builders import make_node, make_object, make_pod
    from kubesched.testing.contract import ContractCheck, check_plugin
    from kubesched.testing.contract_page import CheckOutcome, contract_page, run_checks
    from kubesched.testing.fake_cluster import FakeCluster, filter_all, minimal_profile, score_all
    from kubesched.testing.golden import record_golden, run_golden
    from kubesched.testing.scenario import Scenario, varied_scenario

__all__ = [
    "CheckOutcome",
    "ContractCheck",
    "FakeCluster",
    "Scenario",
    "check_plugin",
    "contract_page",
    "filter_all",
    "make_node",
    "make_object",
    "make_pod",
    "minimal_profile",
    "record_golden",
    "run_checks",
    "run_golden",
    "score_all",
    "varied_scenario",
]
