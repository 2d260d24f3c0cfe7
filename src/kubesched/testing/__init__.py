"""The test kit for plugin authors: builders for objects, calls of one plugin without a cluster, contract checks."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.testing.builders import make_node as make_node, make_object as make_object, make_pod as make_pod
    from kubesched.testing.contract import ContractCheck as ContractCheck, check_plugin as check_plugin
    from kubesched.testing.contract_page import (
        CheckOutcome as CheckOutcome,
        contract_page as contract_page,
        run_checks as run_checks,
    )
    from kubesched.testing.fake_cluster import (
        FakeCluster as FakeCluster,
        filter_all as filter_all,
        minimal_profile as minimal_profile,
        score_all as score_all,
    )
    from kubesched.testing.golden import record_golden as record_golden, run_golden as run_golden
    from kubesched.testing.scenario import Scenario as Scenario, varied_scenario as varied_scenario
