"""What is offline asks a session: one class builds, one function tries a pod, and one journal takes changes back."""

import ast

from tests.architecture.sources import MODULES, Module

WITH_SERVERS = ("kubesched.live.", "kubesched.shadow.", "kubesched.extender.")
BENCH = "kubesched.testing.fake_cluster"  # hooks of plugins by themselves, without a scheduler
SESSION = "kubesched.session.session"
BUILDING = {"ClusterState", "Scheduler", "build_frameworks", "load_cluster", "start_plugins"}
TRYING = {"run_score", "run_post_filter", "select_best"}
BELOW = {"state", "framework", "scheduler"}
"""The rooms that a session is made of."""


def called(module: Module) -> set[str]:
    """The names of the functions and classes that a module calls."""
    calls = (node.func for node in module.nodes if isinstance(node, ast.Call))
    return {
        one.id if isinstance(one, ast.Name) else one.attr for one in calls if isinstance(one, ast.Name | ast.Attribute)
    }


def callers(names: set[str]) -> set[str]:
    """The modules above the core that call one of some functions or classes."""
    return {one.name for one in MODULES if one.room not in BELOW and one.has_any(names) and called(one) & names}


def test_one_class_offline_builds_a_cluster_with_plugins_and_a_scheduler() -> None:
    assert {one for one in callers(BUILDING) if not one.startswith(WITH_SERVERS)} == {SESSION, BENCH}


def test_one_function_offline_tries_a_pod_and_one_picks_its_node() -> None:
    online = {one.name for one in MODULES if one.room in ("shadow", "extender")}
    assert callers(TRYING) - online == {"kubesched.session.attempt", "kubesched.session.place"}


def test_the_setup_alone_answers_for_extenders() -> None:
    """Drivers take the extenders that are asked, and the answers, from a Setup, whether there are extenders or not."""
    assert callers({"answering_calls"}) == {"kubesched.setup.setup"}


def test_changes_are_tried_in_forks_alone() -> None:
    """Nobody gives a cluster state the reverse events of a change, or keeps what undoes it."""
    applying = callers({"apply"})
    asking = {name for name in applying if name.split(".")[1] in ("explanation", "planning", "comparison", "capture")}
    assert asking == {"kubesched.explanation.trial"}
    assert asking <= callers({"fork"})
