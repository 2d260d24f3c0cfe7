import pytest

from kubesched.config import qualified_name_errors

NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
OPTIONAL_PREFIX = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"


def faults(name: str) -> list[str]:
    return [str(error).removeprefix(f'p: Invalid value: "{name}": ') for error in qualified_name_errors("p", name)]


@pytest.mark.parametrize("name", ["cpu", "example.com/gpu", "A_b.c-1", "x" * 63])
def test_well_formed_names_pass(name):
    assert faults(name) == []


# Recorded from kube-scheduler v1.36.3.
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x" * 64, ["name part must be no more than 63 bytes"]),
        ("a." * 130 + "b/x", ["prefix part must be no more than 253 bytes"]),
        ("/x", ["prefix part must be non-empty"]),
        ("", ["name part must be non-empty", f"name part {NAME_RULE}"]),
        ("bad_", [f"name part {NAME_RULE}"]),
        ("a/b/c", [f"a valid label key {NAME_RULE} {OPTIONAL_PREFIX}"]),
    ],
)
def test_each_broken_rule_is_told_in_upstream_words(name, expected):
    assert faults(name) == expected


def test_prefix_and_name_are_judged_apart():
    assert [fault[:11] for fault in faults("bad name/")] == ["prefix part", "name part m", "name part m"]
