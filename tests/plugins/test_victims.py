"""Disruption budgets: which pods count against them."""

import pytest

from kubesched.state import Budget, Identity
from kubesched.testing import make_object

WEB = {"matchLabels": {"app": "web"}}


@pytest.mark.parametrize(
    ("selector", "namespace", "labels", "protects"),
    [
        (WEB, "default", {"app": "web"}, True),
        (WEB, "default", {"app": "db"}, False),
        (WEB, "prod", {"app": "web"}, False),
        ({}, "default", {"app": "web"}, False),
        (None, "default", {"app": "web"}, False),
        ({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}, "default", {"app": "web"}, True),
        ({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}, "default", {}, False),
        ({"matchExpressions": [{"key": "x", "operator": "In"}]}, "default", {"x": "y"}, False),
    ],
)
def test_a_budget_protects_labelled_pods_of_its_namespace(
    selector: dict | None, namespace: str, labels: dict, protects: bool
) -> None:
    budget = Budget(
        make_object("PodDisruptionBudget", "b", spec={"selector": selector} if selector is not None else {})
    )
    assert budget.protects(Identity(namespace, labels)) is protects
