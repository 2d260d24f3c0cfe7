import pytest

from kubesched.documents import merge_patch

KEYS = {"containers": "name", "ports": "containerPort"}


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1, "b": 2}, {"b": 3, "c": 4}, {"a": None, "b": 3, "c": 4}),
        ({"a": {"b": 1, "c": 1}}, {"a": {"b": 1}}, {"a": {"c": None}}),
        ({"a": [1, 2]}, {"a": [2]}, {"a": [2]}),
        ({"a": 1}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ],
)
def test_a_patch_has_what_differs(old, new, patch):
    assert merge_patch(old, new) == patch


def test_entries_with_a_key_are_those_that_change():
    old = {"containers": [{"name": "a", "image": "x"}, {"name": "b", "ports": [{"containerPort": 1, "hostPort": 1}]}]}
    new = {"containers": [{"name": "a", "image": "x"}, {"name": "b", "ports": [{"containerPort": 1}]}]}
    ports = [{"containerPort": 1, "hostPort": None}]
    assert merge_patch(old, new, KEYS) == {"containers": [{"name": "b", "ports": ports}]}


@pytest.mark.parametrize("new", [[{"name": "a"}, {"name": "c"}], [{"name": "a"}], [{"name": "a"}, {"name": "a"}]])
def test_a_list_with_other_keys_is_replaced(new):
    old = {"containers": [{"name": "a"}, {"name": "b"}]}
    assert merge_patch(old, {"containers": new}, KEYS) == {"containers": [{"$patch": "replace"}, *new]}
