import pytest

from kubesched.api import parse_selector_text
from kubesched.errors import SelectorError

LABELS = {"tier": "front", "zone": "a", "cores": "8", "empty": ""}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("tier=front", True),
        ("tier == front , zone=a", True),
        ("tier=back", False),
        ("tier!=back", True),
        ("other!=back", True),
        ("zone in (a, b)", True),
        ("zone in (b)", False),
        ("zone notin (b),tier", True),
        ("other notin (b)", True),
        ("tier", True),
        ("!tier", False),
        ("! other", True),
        ("cores>4", True),
        ("cores<4", False),
        ("empty=", True),
        ("in", False),
    ],
)
def test_selectors_read_as_kubectl_reads_them(text, matches):
    assert parse_selector_text(text).matches(LABELS) is matches


@pytest.mark.parametrize("text", ["tier=front=back", "zone in a,b", "a b", "=x", "tier=a,,b", "zone in ()x"])
def test_what_is_not_a_requirement_is_shown_with_examples(text):
    with pytest.raises(SelectorError, match="is not a label requirement; expected for example pool=spot"):
        parse_selector_text(text)


@pytest.mark.parametrize("text", ["-bad-=x", "tier=-bad-", "cores>four"])
def test_bad_keys_and_values_get_kubernetes_words(text):
    with pytest.raises(SelectorError, match="Invalid value"):
        parse_selector_text(text)
