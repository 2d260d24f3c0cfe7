"""What a plugin class may look like, found when it is defined."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from kubesched.config import PluginArgs
from kubesched.errors import PluginDefinitionError
from kubesched.framework import DependsOn, Plugin, Status, default_normalize


def test_extension_points_are_the_hooks_that_a_class_defines() -> None:
    class Some(Plugin):
        def filter(self, state, pod, node):
            return Status.SUCCESS

        def score_nodes(self, state, pod, nodes):
            return np.zeros(len(nodes), dtype=np.int64)

        def unreserve(self, state, pod, node_name):
            pass

    class More(Some):
        def permit(self, state, pod, node_name):
            return Status.SUCCESS

    assert Some.extension_points() == {"filter", "score", "reserve"}
    assert More.extension_points() == {"filter", "score", "reserve", "permit"}
    assert (Some().name, Plugin.extension_points()) == ("Some", frozenset())


def test_a_plugin_has_the_name_that_its_class_sets() -> None:
    class Some(Plugin):
        def score(self, state, pod, node):
            return 1

    class Named(Some):
        name = "my-plugin"

    class Heir(Named):
        pass

    assert [one.name for one in (Some, Named, Heir)] == ["Some", "my-plugin", "my-plugin"]
    assert [one().name for one in (Some, Named, Heir)] == ["Some", "my-plugin", "my-plugin"]


@pytest.mark.parametrize("name", ["my-plugin", "sample.plugin", "x", "9_lives"])
def test_a_name_need_not_be_that_of_a_class(name: str) -> None:
    assert type("Named", (Plugin,), {"name": name}).name == name


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("", "''"),
        ("*", "'*'"),
        ("a/b", "'a/b'"),
        ("a=b", "'a=b'"),
        ("-a", "'-a'"),
        ("a" * 64, f"'{'a' * 64}'"),
        ("a\n", r"'a\n'"),
        (lambda self: "my-plugin", "a function"),
        (property(lambda self: "my-plugin"), "a property"),
    ],
)
def test_a_name_that_cannot_be_written_everywhere_is_refused(name: object, found: str) -> None:
    with pytest.raises(PluginDefinitionError, match=rf"^Odd\.name is {re.escape(found)}; expected a text"):
        type("Odd", (Plugin,), {"name": name})


def test_arguments_have_their_defaults() -> None:
    class WithArgs(Plugin):
        class Args(PluginArgs):
            limit: int = 3

    assert WithArgs().args.limit == 3
    assert WithArgs(WithArgs.Args(limit=5)).args.limit == 5


@pytest.mark.parametrize(
    ("hooks", "forms"),
    [
        (
            {"filter": lambda self, state, pod, node: 0, "filter_nodes": lambda self, state, pod, nodes: 0},
            "filter_nodes",
        ),
        ({"score": lambda self, state, pod, node: 0, "score_nodes": lambda self, state, pod, nodes: 0}, "score_nodes"),
        ({"sort_key": lambda self, queued: (), "less": lambda self, a, b: True}, "less"),
    ],
)
def test_a_rule_is_written_in_one_form(hooks: dict, forms: str) -> None:
    with pytest.raises(PluginDefinitionError, match=f"Both defines both .* and {forms}; delete one of them"):
        type("Both", (Plugin,), hooks)


def test_a_hook_must_be_callable_as_it_is_called() -> None:
    with pytest.raises(
        PluginDefinitionError, match=r"Short.filter must be callable as filter\(self, state, pod, node\)"
    ):
        type("Short", (Plugin,), {"filter": lambda self, pod, node: Status.SUCCESS})


@pytest.mark.parametrize("hook", [5, property(lambda self: None)])
def test_a_hook_is_a_method(hook: object) -> None:
    found = type(hook).__name__
    with pytest.raises(PluginDefinitionError, match=rf"Odd.filter must be a method filter\(self, .*\); found {found}$"):
        type("Odd", (Plugin,), {"filter": hook})


def test_arguments_are_a_plugin_args_class() -> None:
    with pytest.raises(PluginDefinitionError, match=r"Odd.Args is <class 'dict'>; derive it from kubesched.PluginArgs"):
        type("Odd", (Plugin,), {"Args": dict})


def test_what_columns_depend_on_is_a_member_of_the_enum() -> None:
    with pytest.raises(PluginDefinitionError, match=r"Odd.depends_on is 'node'; expected one of DependsOn.NODE, "):
        type("Odd", (Plugin,), {"depends_on": "node"})


@pytest.mark.parametrize(
    ("equal_by", "words"),
    [
        ("requests", "is 'requests'; expected None or a tuple of attributes of PodInfo, such as"),
        (["requests"], r"is \['requests'\]; expected None or a tuple of attributes of PodInfo"),
        (("labels",), "PodInfo has no attribute 'labels'; it has identity, images, kubelet_needs"),
        (("_template",), "PodInfo has no attribute '_template'"),
    ],
)
def test_what_pods_are_equal_by_are_attributes_of_a_pod(equal_by: object, words: str) -> None:
    with pytest.raises(PluginDefinitionError, match=f"Odd.equal_by .*{words}"):
        type("Odd", (Plugin,), {"equal_by": equal_by})


@pytest.mark.parametrize(("hook", "part"), [("filter_nodes", "filter_part"), ("score_nodes", "score_part")])
def test_columns_that_are_kept_need_their_part(hook: str, part: str) -> None:
    rule = {"depends_on": DependsOn.ROW, hook: lambda self, state, pod, nodes: 0}
    with pytest.raises(PluginDefinitionError, match=f"Odd: columns of {hook} .* are kept, so it must define {part}"):
        type("Odd", (Plugin,), rule)


def test_a_hook_may_take_more_with_defaults_or_everything() -> None:
    type("Wide", (Plugin,), {"filter": lambda self, state, pod, node, extra=1: Status.SUCCESS})
    type("Any", (Plugin,), {"filter": lambda self, *given: Status.SUCCESS})


def rule(self, state, pod, nodes):
    return Status.SUCCESS


@pytest.mark.parametrize(
    ("written", "hook"),
    [
        ("preFilter", "pre_filter"),
        ("PreFilter", "pre_filter"),
        ("prefilter", "pre_filter"),
        ("pre_fliter", "pre_filter"),
        ("pre_filer", "pre_filter"),
        ("normalise_score", "normalize_score"),
        ("scroe", "score"),
        ("postFilter", "post_filter"),
        ("queueSort", "sort_key"),
    ],
)
def test_a_misspelt_hook_beside_a_valid_one_is_an_error(written: str, hook: str) -> None:
    said = f'Slip.{written} is not a hook, so the scheduler never calls it; did you mean "{hook}"?'
    with pytest.raises(PluginDefinitionError, match=re.escape(said)):
        type("Slip", (Plugin,), {"filter": rule, written: rule})


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("Name", 'set name = "..." in the class'),
        ("PreFilterExtensions", "define add_pods and remove_pods in the class"),
        ("pre_filter_extensions", "define add_pods and remove_pods in the class"),
        ("ScoreExtensions", "define normalize_score in the class"),
        ("score_extensions", "define normalize_score in the class"),
        ("AddPod", "define add_pods(state, pod, changes)"),
        ("RemovePod", "define remove_pods(state, pod, changes)"),
        ("SignPod", 'name what the hooks read of a pod in the class: equal_by = ("requests",)'),
    ],
)
def test_what_only_plugins_in_go_have_is_an_error(name: str, advice: str) -> None:
    said = f"Slip.{name} is part of a plugin in Go, and kubesched does not use it; {advice}"
    for member in (lambda self: "my-plugin", "my-plugin"):
        with pytest.raises(PluginDefinitionError, match=re.escape(said)):
            type("Slip", (Plugin,), {"filter": rule, "normalize_score": rule, name: member})


@pytest.mark.parametrize("name", ["_Name", "display_name", "add_pod", "remove_pod", "names"])
def test_usual_helper_methods_are_not_taken_for_go(name: str) -> None:
    type("Fine", (Plugin,), {"filter": rule, name: lambda self: "my-plugin"})


def test_a_camel_case_hook_is_misspelt_whatever_its_arguments() -> None:
    with pytest.raises(PluginDefinitionError, match="did you mean"):
        type("Camel", (Plugin,), {"filter": rule, "preFilter": lambda self, pod: None})


def test_a_misspelt_hook_of_a_mixin_is_an_error() -> None:
    with pytest.raises(PluginDefinitionError, match=r'Mixed.pre_fliter .* did you mean "pre_filter"'):
        type("Mixed", (type("Mixin", (), {"pre_fliter": rule}), Plugin), {"filter": rule})


@pytest.mark.parametrize(
    ("helper", "hook"),
    [
        ("_preFilter", "filter"),
        ("_pre_fliter", "filter"),
        ("score_of", "filter"),
        ("scores", "filter"),
        ("store", "filter"),
        ("find", "filter"),
        ("filters", "score"),
        ("filter_node", "filter"),
        ("reserved", "filter"),
        ("permits", "filter"),
        ("starts", "filter"),
        ("add_pod", "filter"),
        ("preFilter", "pre_filter"),
    ],
)
def test_a_helper_that_resembles_a_hook_is_allowed(helper: str, hook: str) -> None:
    assert type("Helped", (Plugin,), {hook: rule, helper: rule}).extension_points()


def test_a_helper_with_other_arguments_is_allowed() -> None:
    type("Helped", (Plugin,), {"filter": rule, "preserve": lambda self, pod: None})


def test_what_is_not_a_method_is_not_a_hook() -> None:
    type("Data", (Plugin,), {"filter": rule, "preFilter": 5, "Score": type("Score", (), {})})


@pytest.mark.parametrize(
    ("scores", "normalized", "reversed_"),
    [
        ([0, 0], [0, 0], [100, 100]),
        ([3, 1, 0], [100, 33, 0], [0, 67, 100]),
        ([7], [100], [0]),
        ([], [], []),
    ],
)
def test_scores_are_scaled_to_the_highest(scores: list[int], normalized: list[int], reversed_: list[int]) -> None:
    given = np.array(scores, dtype=np.int64)
    assert default_normalize(given).tolist() == normalized
    assert default_normalize(given, reverse=True).tolist() == reversed_
    assert given.tolist() == scores


@pytest.mark.parametrize("module", ["plugin", "services"])
def test_the_contract_has_a_type_for_everything(module: str) -> None:
    source = Path(inspect.getfile(Plugin)).with_name(f"{module}.py").read_text(encoding="utf-8")
    assert [node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name) and node.id == "Any"] == []


RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["patch"]}


@pytest.mark.parametrize("rbac", [(), [RULE], ({**RULE, "resourceNames": ["p"]}, RULE)])
def test_the_rights_of_a_plugin_are_rules_of_a_role(rbac: object) -> None:
    assert type("Writes", (Plugin,), {"rbac": rbac}).rbac == rbac


@pytest.mark.parametrize(
    ("rbac", "said"),
    [
        ("pods", "Odd.rbac is 'pods'; expected a list of rules"),
        (RULE, "Odd.rbac is {'apiGroups'.*; expected a list of rules"),
        (["pods"], "Odd.rbac\\[0\\] is 'pods'; expected a rule with apiGroups, resources, verbs"),
        ([RULE, {"verbs": ["get"]}], "Odd.rbac\\[1\\] has no apiGroups"),
        ([{**RULE, "verb": ["get"]}], "Odd.rbac\\[0\\] has the field 'verb'"),
        ([{**RULE, "verbs": "get"}], "Odd.rbac\\[0\\].verbs is 'get'; expected a list of texts"),
        ([{**RULE, "verbs": ["gte"]}], "Odd.rbac\\[0\\].verbs has 'gte'; expected some of get, list"),
        ([{**RULE, "resources": ["*"]}], 'Odd.rbac\\[0\\].resources has "\\*"; list what the plugin needs'),
        ([{**RULE, "resources": []}], "Odd.rbac\\[0\\].resources is \\[\\]; expected a list of texts"),
    ],
)
def test_rights_that_no_role_can_have_are_refused(rbac: object, said: str) -> None:
    with pytest.raises(PluginDefinitionError, match=f"^{said}"):
        type("Odd", (Plugin,), {"rbac": rbac})
