"""Suggests labels: the key that was probably meant, and what objects have where a selector selects none of them."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, TypeVar

from kubesched.api import KubeObject, Selector, parse_selector_text
from kubesched.documents import listed, meant
from kubesched.errors import InputError, SelectorError

ObjectT = TypeVar("ObjectT", bound=KubeObject)

_MAX_VALUES: Final = 5
_NUMBER: Final = re.compile("[0-9]+")
_LOOKALIKES: Final = str.maketrans("015", "ols")
_SIGNS: Final = re.compile("[^a-z0-9]+")
_LONG, _LONG_PART = 6, 3  # letters of a name and of its wrong part; with fewer, one letter makes another name
_ALIASES: Final = {
    "aarch64": "arm64",
    "armv8": "arm64",
    "armhf": "arm",
    "armv7l": "arm",
    "x64": "amd64",
    "x86": "386",
    "i386": "386",
    "i686": "386",
    "x86_64": "amd64",
    "x86-64": "amd64",
    "darwin": "macos",
}
"""Other names of machines -> what Kubernetes calls them."""


def near_key(wrong: str, keys: Collection[str]) -> str:
    """The label key that was probably meant; empty where none is near."""
    name = wrong.rpartition("/")[2]
    same = [key for key in keys if key.rpartition("/")[2] == name]
    if (well_known := f"topology.kubernetes.io/{name}") in same:  # cloud providers and CSI drivers have zones, too
        return well_known
    if same:
        return same[0]
    near = near_spelling(wrong, keys)  # of long domains nearly everything is near: the names count, too
    return near if near_spelling(name, [near.rpartition("/")[2]]) else ""


def near_spelling(wrong: str, words: Collection[str]) -> str:
    """The word that was probably misspelt; empty where none is near.

    A word with other numbers is another word: `gen5` is not `gen6` misspelt. Names in anonymized snapshots differ by
    their numbers, too.

    Example:
        assert near_spelling("spto-2", ["spot-1", "spot-2"]) == "spot-2"
    """
    numbers = _NUMBER.findall(wrong)
    alike = [word for word in words if _NUMBER.findall(word) == numbers]
    return next(iter(get_close_matches(wrong, alike, n=1)), "")


def near_letters(wrong: str, words: Collection[str]) -> str:
    """As `near_spelling`, where a digit may also be a letter that looks like it.

    Example:
        assert near_letters("premium-rw0", ["premium-rwo"]) == "premium-rwo"
    """
    letters = {word.translate(_LOOKALIKES): word for word in words}
    return near_spelling(wrong, words) or letters.get(wrong.translate(_LOOKALIKES), "")


def respelt(wrong: str, words: Collection[str], *, is_coined: bool = True) -> str:
    """The word that a name of a place or of a kind of machine was meant to be; empty where none is the same name.

    Such names look alike and mean different things: `arm64` is not `amd64` misspelt, zone `b` is not zone `c`. It is
    the same name if it differs in case and punctuation, if both mean the same thing, or if a long name has a letter
    too many, too few, or two letters in the wrong order.

    Args:
        is_coined: whether people choose such names, as those of pools. `large` and `xlarge` are two types of machines.

    Example:
        assert respelt("europe-west1b", ["europe-west1-b", "europe-west1-c"]) == "europe-west1-b"
        assert respelt("aarch64", ["amd64", "arm64"]) == "arm64"
        assert not respelt("gpu", ["cpu"])
    """
    plain = {_plain(word): word for word in words}
    if same := plain.get(_plain(wrong)) or plain.get(_ALIASES.get(wrong.lower(), "-")):
        return same
    alike = [word for word in words if is_coined and _is_slip(_parts(wrong), _parts(word))]
    return alike[0] if len(alike) == 1 else ""


def _plain(word: str) -> str:
    return "".join(_parts(word))


def _parts(word: str) -> list[str]:
    return [part for part in _SIGNS.split(word.lower()) if part]


def _is_slip(wrong: list[str], right: list[str]) -> bool:
    pairs = [(a, b) for a, b in zip(wrong, right, strict=False) if a != b]
    if len(wrong) != len(right) or len(pairs) != 1:
        return False
    (a, b), shorter = pairs[0], min(map(len, pairs[0]))
    if shorter < _LONG_PART or not (a + b).isalpha() or abs(len(a) - len(b)) > 1:
        return False
    if len(a) == len(b):
        return any(a[:i] + a[i + 1] + a[i] + a[i + 2 :] == b for i in range(len(a) - 1))
    if sum(map(len, wrong)) < _LONG:
        return False
    long, short = (a, b) if len(a) > len(b) else (b, a)
    return any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def selected(objects: Sequence[ObjectT], text: str, where: str, nothing: str, what: str) -> list[ObjectT]:
    """The objects that a label selector selects, written as `kubectl get -l` takes it.

    Args:
        where: what has the selector, as the beginning of a message.
        nothing: what follows it where no object is selected.
        what: the objects are, such as `node`.
    Raises:
        InputError: the selector does not parse, or it selects nothing.
    """
    try:
        selector = parse_selector_text(text)
    except SelectorError as error:
        raise InputError(f"{where}: {error}") from error
    chosen = [obj for obj in objects if selector.matches(obj.labels)]
    if not chosen:
        raise InputError(f"{where}{nothing}{unselected(selector, (obj.labels for obj in objects), what)}")
    return chosen


def unselected(selector: Selector, labels: Iterable[Mapping[str, str]], what: str) -> str:
    """Why a selector selects none of some objects, as the end of a message: the first label or value that none has.

    Args:
        labels: of each object.
        what: they are, such as `node`.
    Returns: the text after a semicolon; empty where each requirement alone selects something.

    Example:
        from kubesched.api import parse_selector_text

        selector = parse_selector_text("pool=spto")
        assert unselected(selector, [{"pool": "spot"}, {"pool": "db"}], "node") == "; pool is one of db, spot"
    """
    values_of: dict[str, dict[str, None]] = {}
    for pairs in labels:
        for key, value in pairs.items():
            values_of.setdefault(key, {})[value] = None
    for requirement in selector.requirements:
        key = requirement.key
        if requirement.operator in ("DoesNotExist", "NotIn"):
            continue
        if key not in values_of:
            near = near_key(key, values_of)
            return f"; no {what} has the label {key}{f'; {meant([near])}' if near else ''}"
        if requirement.operator == "In" and requirement.values.isdisjoint(values_of[key]):
            return f"; {key} is {_values(sorted(values_of[key]), min(requirement.values))}"
    return ""


def _values(values: list[str], wrong: str) -> str:
    """The values; of many the nearest ones first."""
    if len(values) == 1:
        return f"{values[0]} on all that have it"
    near = get_close_matches(wrong, values, n=_MAX_VALUES)
    shown = dict.fromkeys([*near, *values]) if len(values) > _MAX_VALUES else values
    return f"one of {listed(shown, _MAX_VALUES)}"
