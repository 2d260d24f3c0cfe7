"""Replaces names and the words that other texts are made of, so that equal names stay equal and related ones related.

A name has a word for what it names and a number: `node-17`, `team-3`, `app-5`. In other texts names are found, and each
further word is replaced: pod `web-7f9c-abcde` of Deployment `web` becomes `app-5-x104-x120`, and pod `db-2` of a
StatefulSet `app-6-2`. So the claim `<pod>-<volume>` of an ephemeral volume still follows from both names, an extended
resource still has a domain, and an image its tag. The numbers of one kind of name have one length and the order of
the names. Names differ in their numbers, so that none is taken for another one misspelt.
"""

import hashlib
import hmac
import re
from base64 import b32encode
from collections.abc import Iterable, Iterator
from typing import Final

from kubesched.api import GROUP_KEYS, GROUP_MINIMUMS
from kubesched.capture.kubernetes_words import is_defined_name
from kubesched.capture.named_texts import OF_WORKLOADS, PLAIN, Joined, NamedTexts
from kubesched.capture.public_words import is_public_name
from kubesched.controllers import SITE_WORDS
from kubesched.errors import InputError
from kubesched.state import KNOWN_DRIVER_NAMES

WORD: Final = re.compile(
    r"(?<![^\W_])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![^\W_])|[^\W_]+"
)  # a uid is one word
_KEPT_WORDS: Final = frozenset(
    (
        *("default", "kube", "system", "public", "node", "lease", "scheduler", "cluster", "critical", "latest", "aws"),
        *("vol", "svclb"),
        *SITE_WORDS,
    )
)
"""Words of names that rules read: kube-system, system-node-critical, an image's tag, a volume's id, svclb-web; and in
keys of labels.
"""
_KEPT_TEXTS: Final = KNOWN_DRIVER_NAMES | GROUP_KEYS | GROUP_MINIMUMS | {"metadata.name", "0.0.0.0"}
_OF_KUBERNETES: Final = re.compile(r"((?:[^/]*\.)?)(kubernetes\.io|k8s\.io)/(.*)", re.DOTALL)
_PUBLIC_IMAGES: Final = "registry.k8s.io/"
_NO_NAMES: Final = NamedTexts({}, [])
_ORDINAL: Final = re.compile("0|[1-9][0-9]{0,4}")
_HASH_LENGTH: Final = 9
_MAX_LABEL: Final = 63


class ReplacedWords:
    """The replacements for a set of texts.

    Args:
        texts: every text that is going to be replaced.
        salt: derives replacements from the words alone, so that they are the same in every snapshot with this salt, but
            in any order, and without the words for what they name; empty for readable ones.
        keep: texts whose words stay.
        names: what is a name; the others are texts of words.
    Attributes:
        used: the replacements that were given out, and the names and words.
    Raises:
        InputError: two words get the same replacement from this salt.
    """

    def __init__(
        self,
        texts: Iterable[str],
        salt: str = "",
        keep: Iterable[str] = (),
        names: NamedTexts = _NO_NAMES,
    ) -> None:
        self._kept = _KEPT_WORDS.union(*map(WORD.findall, keep))
        self.used: dict[str, str] = {}
        self._salt = salt.encode()
        self._known: dict[str, str] = {}
        distinct = set(texts)
        self._number_names(_NO_NAMES if salt else names)
        self._replace_words(distinct)
        while broken := [one for one in names.joined if self._names and not self._is_joined(one)]:
            parts = [piece for one in broken for piece, _ in self._pieces(f"{one.begin}-{one.end}")]
            if not self._forget(parts):
                break
            self._replace_words(distinct)
        if self._names and len({self._replaced(text) for text in distinct}) < len(distinct):
            self._forget(list(self._names))
            self._replace_words(distinct)
        self._known.clear()
        self.used.clear()

    def __call__(self, text: str) -> str:
        """The replacement of a text; texts that rules read literally stay."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._replaced(text)
        return known

    def _number_names(self, names: NamedTexts) -> None:
        """Give names their numbers, those of one kind in their order."""
        kinds: dict[str, list[str]] = {}
        for text, kind in names.roles.items():
            if not self._kept.issuperset(WORD.findall(text)):
                kinds.setdefault(kind, []).append(text)
        self._names = {text: text for text in kinds.pop(PLAIN, ())}
        self._with_ordinals = frozenset(kinds.get(OF_WORKLOADS, ()))
        for kind, texts in kinds.items():
            width = len(str(len(texts)))
            self._names |= {text: f"{kind}-{i:0{width}}" for i, text in enumerate(sorted(texts), 1)}
        self._most_words = max((len(WORD.findall(text)) for text in self._names), default=0)

    def _forget(self, names: Iterable[str]) -> bool:
        """Replace some names word by word. Returns: whether one of them was a name."""
        n = len(self._names)
        for name in names:
            self._names.pop(name, None)
        return len(self._names) < n

    def _is_joined(self, one: Joined) -> bool:
        """Whether a name is still made of two others."""
        is_ordinal = one.begin in self._with_ordinals and _ORDINAL.fullmatch(one.end)
        words = {piece for piece, is_word in self._pieces(one.end) if is_word} - self._kept
        if not is_ordinal and not words <= self._replacements.keys():
            return False  # the end is nowhere but in the name, which is replaced as a whole
        end = one.end if is_ordinal else self._replaced(one.end)
        return self._replaced(f"{one.begin}-{one.end}") == f"{self._replaced(one.begin)}-{end}"

    def _replace_words(self, texts: set[str]) -> None:
        """Number the words of texts that are not parts of names."""
        self._long: set[str] = set()
        while True:
            pieces = (piece for text in texts - self._long for piece in self._pieces(text))
            words = {piece for piece, is_word in pieces if is_word} | self._long
            self._replacements = self._hashed(words) if self._salt else self._numbered(words)
            longer = {text for text in texts - self._long if self._is_too_long(text)}
            if not longer:
                break
            self._long |= longer  # a label with so many words would be too long: it is replaced as one word

    def _replaced(self, text: str) -> str:
        if text in _KEPT_TEXTS or is_defined_name(text) or is_public_name(text) or text.startswith(_PUBLIC_IMAGES):
            return text
        if text in self._long:
            return self._word(text)
        if (parts := _OF_KUBERNETES.fullmatch(text)) is None:
            return self._split(text)
        prefix, domain, name = parts.groups()
        return f"{self._split(prefix)}{domain}/{self._split(name)}"

    def _is_too_long(self, text: str) -> bool:
        """Whether a label would be too long; an image with a tag or digest is not a label, and is found by it."""
        return ":" not in text and len(self._split(text)) > max(len(text), _MAX_LABEL)

    def _split(self, text: str) -> str:
        """A text with its names and words replaced, and its signs."""
        replaced, end = [], 0
        for piece, is_word in self._pieces(text):
            begin = text.index(piece, end)
            replaced += [text[end:begin], self._word(piece) if is_word else self._name(piece)]
            end = begin + len(piece)
        return "".join([*replaced, text[end:]])

    def _pieces(self, text: str) -> Iterator[tuple[str, bool]]:
        """The names in a text, the longest first, and the words between them; and whether a piece is a word.

        The number of a pod of a StatefulSet stays: it is left out.
        """
        most = self._most_words
        if not most:
            yield from ((word, True) for word in WORD.findall(text))
            return
        spans = [word.span() for word in WORD.finditer(text)]
        i, before = 0, ""
        while i < len(spans):
            begin = spans[i][0]
            ends = range(min(i + most, len(spans)), i, -1)
            n = next((n for n in ends if text[begin : spans[n - 1][1]] in self._names), 0)
            piece = text[begin : spans[max(n, i + 1) - 1][1]]
            if n or not (before and text[:begin].endswith(f"{before}-") and _ORDINAL.fullmatch(piece)):
                yield piece, not n
            before = piece if n and piece in self._with_ordinals else ""
            i = max(n, i + 1)

    def _name(self, name: str) -> str:
        replacement = self._names[name]
        if replacement != name:
            self.used[replacement] = name
        return replacement

    def _word(self, word: str) -> str:
        if word in self._kept:
            return word
        replacement = self._replacements[word]
        self.used[replacement] = word
        return replacement

    def _numbered(self, words: set[str]) -> dict[str, str]:
        width = max(len(str(len(words))), 2)
        return {word: f"x{i:0{width}}" for i, word in enumerate(sorted(words))}

    def _hashed(self, words: set[str]) -> dict[str, str]:
        replacements = {word: hash_of(word, self._salt) for word in words}
        if len(set(replacements.values())) < len(words):
            raise InputError("--salt: two words get the same replacement; choose another salt")
        return replacements


def hash_of(word: str, salt: bytes) -> str:
    """The replacement that follows from a word and a salt alone."""
    digest = hmac.new(salt, word.encode(), hashlib.sha256).digest()
    return f"x{b32encode(digest).decode().lower()[:_HASH_LENGTH]}"
