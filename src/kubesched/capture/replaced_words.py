"""Replaces the words that names are made of, so that equal names stay equal and names that belong together do too.

A name keeps its separators, and each of its words gets a replacement: `web-7f9c-abcde` becomes `x317-x104-x120`. So the
claim `<pod>-<volume>` of an ephemeral volume still follows from both names, a zone still begins with its region, an
extended resource still has a domain, and an image its tag. Replacements have one length and the order of the words, so
that names compare as before. They differ in their digits, so that none is taken for another one misspelt.
"""

import hashlib
import hmac
import re
from base64 import b32encode
from collections.abc import Iterable
from typing import Final

from kubesched.api import GROUP_KEYS, GROUP_MINIMUMS
from kubesched.capture.kubernetes_words import is_defined_name
from kubesched.errors import InputError
from kubesched.state import KNOWN_DRIVER_NAMES

WORD: Final = re.compile(
    r"(?<![^\W_])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![^\W_])|[^\W_]+"
)  # a uid is one word
_KEPT_WORDS: Final = frozenset(
    ("default", "kube", "system", "public", "node", "lease", "scheduler", "cluster", "critical", "latest", "aws", "vol")
)
"""Words of names that rules read: kube-system, system-node-critical, an image's tag, the form of a volume's id."""
_KEPT_TEXTS: Final = KNOWN_DRIVER_NAMES | GROUP_KEYS | GROUP_MINIMUMS | {"metadata.name", "0.0.0.0"}
_OF_KUBERNETES: Final = re.compile(r"((?:[^/]*\.)?)(kubernetes\.io|k8s\.io)/(.*)", re.DOTALL)
_PUBLIC_IMAGES: Final = "registry.k8s.io/"
_HASH_LENGTH: Final = 9
_MAX_LABEL: Final = 63


class ReplacedWords:
    """The replacements for a set of texts.

    Args:
        texts: every text that is going to be replaced.
        salt: derives replacements from the words, so that they are the same in every snapshot with this salt, but in
            any order; empty for replacements in the order of the words.
        keep: texts whose words stay.
    Attributes:
        used: the replacements that were given out, and the words.
    Raises:
        InputError: two words get the same replacement from this salt.
    """

    def __init__(self, texts: Iterable[str], salt: str = "", keep: Iterable[str] = ()) -> None:
        self._kept = _KEPT_WORDS.union(*map(WORD.findall, keep))
        self.used: dict[str, str] = {}
        self._salt = salt.encode()
        self._known: dict[str, str] = {}
        self._long: set[str] = set()
        distinct = set(texts)
        while True:
            words = {word for text in distinct - self._long for word in WORD.findall(text)} | self._long
            self._replacements = self._numbered(words) if not salt else self._hashed(words)
            longer = {text for text in distinct - self._long if self._is_too_long(text)}
            if not longer:
                break
            self._long |= longer  # a label with so many words would be too long: it is replaced as one word
        self._known.clear()
        self.used.clear()

    def __call__(self, text: str) -> str:
        """The replacement of a text; texts that rules read literally stay."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._replaced(text)
        return known

    def _replaced(self, text: str) -> str:
        if text in _KEPT_TEXTS or is_defined_name(text) or text.startswith(_PUBLIC_IMAGES):
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
        return WORD.sub(lambda word: self._word(word[0]), text)

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
        replacements = {word: self._hash(word) for word in words}
        if len(set(replacements.values())) < len(words):
            raise InputError("--salt: two words get the same replacement; choose another salt")
        return replacements

    def _hash(self, word: str) -> str:
        digest = hmac.new(self._salt, word.encode(), hashlib.sha256).digest()
        return f"x{b32encode(digest).decode().lower()[:_HASH_LENGTH]}"
