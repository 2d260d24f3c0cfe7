import pytest
from team_nodes import TeamNodes, TeamNodesByColumn

from kubesched import Simulator, Status
from kubesched.testing import (
    check_plugin,
    filter_all,
    make_node,
    make_pod,
    minimal_profile,
    varied_scenario,
)

NODES = [
    make_node("r1", labels={"pool": "red"}),
    make_node("r2", labels={"pool": "red-large"}),
    make_node("b1", labels={"pool": "blue"}),
    make_node("n1"),
]
ARGS = {"pools": {"shop": ["red", "red-large"], "search": ["blue"], "new": []}}
BOTH = pytest.mark.parametrize("plugin_class", [TeamNodes, TeamNodesByColumn])


def fitting(plugin_class: type[TeamNodes], **labels: str) -> list[str]:
    args = plugin_class.Args(pools={team: tuple(pools) for team, pools in ARGS["pools"].items()})
    verdicts = filter_all(plugin_class(args), make_pod("web", labels=labels), NODES)
    return [name for name, status in verdicts.items() if status.is_success]


@BOTH
def test_a_pod_fits_on_the_pools_of_its_team(plugin_class):
    assert fitting(plugin_class, team="shop") == ["r1", "r2"]
    assert fitting(plugin_class, team="search") == ["b1"]


@BOTH
@pytest.mark.parametrize("labels", [{"app": "web"}, {"team": "unlisted"}])
def test_a_pod_of_no_listed_team_fits_anywhere(plugin_class, labels):
    assert fitting(plugin_class, **labels) == ["r1", "r2", "b1", "n1"]


@BOTH
def test_a_team_without_nodes_is_told_so(plugin_class):
    args = plugin_class.Args(pools={"new": ()})
    verdicts = filter_all(plugin_class(args), make_pod("web", labels={"team": "new"}), NODES)
    assert verdicts["n1"] == Status.unresolvable('team "new" owns no nodes').by(plugin_class.__name__)


@pytest.mark.parametrize("team", ["shop", "search", "new", "unlisted"])
def test_both_forms_choose_the_same_nodes(team):
    assert fitting(TeamNodes, team=team) == fitting(TeamNodesByColumn, team=team)


def test_a_node_of_the_team_brings_waiting_pods_back():
    plugin = TeamNodes(TeamNodes.Args(pools={"shop": ("red",)}))
    pod = make_pod("web", labels={"team": "shop"})
    assert plugin.node_hint(pod, None, make_node("r9", labels={"pool": "red"})).name == "QUEUE"
    assert plugin.node_hint(pod, None, make_node("b9", labels={"pool": "blue"})).name == "SKIP"


def test_a_whole_simulation_places_the_team_on_its_nodes():
    plugin = TeamNodes(TeamNodes.Args(pools={"shop": ("red",)}))
    pods = [make_pod(f"web-{i}", labels={"team": "shop"}) for i in range(3)]
    report = Simulator([*NODES, *pods], [minimal_profile(plugin)]).run()
    assert {placement.node for placement in report.placements} == {"r1"}


SCENARIO = varied_scenario().extended(
    nodes=NODES, pending=[make_pod("shop", labels={"team": "shop"}), make_pod("new", labels={"team": "new"})]
)
CHECKS = [
    pytest.param(check, id=f"{plugin_class.__name__}-{check}")
    for plugin_class in (TeamNodes, TeamNodesByColumn)
    for check in check_plugin(plugin_class, args=ARGS, scenario=SCENARIO)
]


@pytest.mark.parametrize("check", CHECKS)
def test_contract(check):
    check()
