"""What a report says about preemption."""

from kubesched.api import KubeObject
from kubesched.explanation import Explanation
from kubesched.pages.explanations import as_document
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, ask
from tests.pages.explanations.test_pod_page import printed


def preempting(*budgets: KubeObject) -> Explanation:
    """A pod that needs the room of one pod of the application `a` and one of `b`."""
    victims = [make_pod(f"v{i}", labels={"app": app}, node="n1", requests={"cpu": "1"}) for i, app in enumerate("ab")]
    pod = make_pod("p", requests={"cpu": "2"}, priority=5)
    return ask(pod, make_node("n1", allocatable=SMALL), *victims, *budgets)


def budget(app: str, allowed: int) -> KubeObject:
    status = {"disruptionsAllowed": allowed}
    spec = {"selector": {"matchLabels": {"app": app}}}
    return make_object("PodDisruptionBudget", f"keep-{app}", namespace="default", spec=spec, status=status)


def test_the_budgets_that_preemption_breaks_are_named():
    one = preempting(budget("a", 0), budget("b", 1))
    assert "(priority 0, then lost), which would break disruption budget default/keep-a." in printed(one, width=200)
    assert as_document(one)["preemption"]["broken"] == ["default/keep-a"]
    both = printed(preempting(budget("a", 0), budget("b", 0)), width=200)
    assert "which would break disruption budgets default/keep-a and default/keep-b." in both


def test_no_budget_is_named_where_none_is_broken():
    assert "budget" not in printed(preempting(budget("a", 1)), width=200)
