"""Phrases that have confused readers, and what to write instead. kube-scheduler's own words match none of them."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

INSTEAD = {
    r"\b(that|which) comes? along\b": "bundled",
    r"\b(a|an) [\w ]{0,30}\bof yours\b": "your ...",
    r"\bof (your|its|their|our) own\b": "your ..., a separate ...",
    r"\banew\b": "again",
    r"\bagain and again\b": "repeatedly",
    r"\bseldom\b": "rarely",
    r"\bin vain\b": "without effect",
    r"\bbesides\b": "also",
    r"\bfor ever\b": "forever",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bheeds?\b": "follow",
    r"\bpeople trip over\b": "common mistakes",
    r"\bexclude each other\b": "are mutually exclusive",
    r"\b(this|it|that) is no \w": "is not a ...",
    r"\bis no (YAML|JSON|UTF-8|base64|plugin|file|folder|duration|pod|text|number|result)\b": "is not ...",
    r"\ballowed (is|are|here)\b": "expected ...",
    r"\bsource of chance\b": "random seed",
    r"\b(under its|from one) feet\b": "say what happens",
    r"\bone may name\b": "can refer to",
    r"\bis for who\b": "is for people who",
    r"\bwhoever\b": "name the actor: every client, the caller",
    r"\bnobody\b": "no client, no plugin, ...",
    r"\b(is|are|was|were) told\b": "is reported, gets a message",
    r"\b(stands?|stood|standing) (in|beside|side by side|at|on|there)\b": "is in, is next to",
    r"\bread again when\b": "reloaded when",
    r"\bmade again\b": "re-created",
    r"\bnever seen\b": "not confirmed",
}
"""Pattern, in any case -> what to write."""
PATTERNS = [(re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE), instead) for pattern, instead in INSTEAD.items()]
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


class Place(NamedTuple):
    """A text, where it is from, and the line of its beginning."""

    file: str
    line: int
    text: str

    def finding(self, at: int, what: str) -> str:
        """What is wrong at a position of the text."""
        return f"{self.file}:{self.line + self.text.count(chr(10), 0, at)}: {what}"


def without_code(text: str) -> str:
    """The prose of a text; its lines stay where they are."""
    return CODE.sub(lambda code: "\n" * code[0].count("\n"), text)


def confusing(places: Iterable[Place]) -> Iterator[str]:
    """A finding for each phrase."""
    for place in places:
        for pattern, instead in PATTERNS:
            for match in pattern.finditer(place.text):
                yield place.finding(match.start(), f"{' '.join(match[0].split())!r}; write: {instead}")
