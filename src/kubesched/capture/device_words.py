"""Finds the words of devices that stay when names are replaced: those that CEL expressions and constraints compare.

An expression may ask whether a text begins with another one, or compare versions or the parts of a name. So expressions
stay, with the names and values of the attributes that they read. The other attributes decide nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from kubesched.api import (
    DeviceClaim,
    DeviceClass,
    DeviceSelector,
    DeviceSubRequest,
    KubeObject,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from kubesched.capture.kubernetes_words import is_amount
from kubesched.capture.replaced_words import WORD
from kubesched.cel import Reads, compile_in_any_version
from kubesched.errors import CelCompileError

_DEFINED: Final = frozenset(("resource.kubernetes.io", "pciBusID", "pcieRoot"))
"""Attributes of devices that Kubernetes defines, and their domain."""
_TEXT_OR_COMMENT: Final = re.compile(
    r"""
    "{3}(?:\\.|[^\\])*?(?:"{3}|\Z) | '{3}(?:\\.|[^\\])*?(?:'{3}|\Z) | "(?:\\.|[^"\\])*"? | '(?:\\.|[^'\\])*'?
    | (?P<comment>//[^\n]*)
    """,
    re.VERBOSE | re.DOTALL,
)


class DeviceWords(msgspec.Struct, frozen=True):
    """What stays of the descriptions of devices.

    Attributes:
        names: names of attributes and capacities without their domains; None for all of them.
        domains: of attributes and capacities, and drivers.
        texts: the values that stay, and the texts that expressions compare them with.
    """

    names: frozenset[str] | None
    domains: frozenset[str]
    texts: frozenset[str]

    def keeps(self, name: str) -> bool:
        """Whether an attribute keeps its value."""
        return self.names is None or name.rpartition("/")[2] in self.names

    def renamed(self, name: str, text: Callable[[str], str]) -> str:
        """The name of an attribute or a capacity, with or without its domain; `text` replaces what does not stay."""
        domain, slash, bare = name.rpartition("/")
        new_domain = domain if domain in self.domains or domain in _DEFINED else text(domain)
        return f"{new_domain}{slash}{bare if self.keeps(name) or bare in _DEFINED else text(bare)}"

    @property
    def listed(self) -> list[str]:
        """All that stays, for a note."""
        return sorted({*(self.names or ()), *self.domains, *self.texts} - _DEFINED - {""})


def device_words(objects: Iterable[KubeObject]) -> DeviceWords:
    """What has to stay so that claims get the same devices."""
    known = list(objects)
    expressions, attributes = set(_expressions(known)), set(_constrained(known))
    reads = Reads(attributes=frozenset(attributes))
    for expression in expressions:
        try:
            reads |= compile_in_any_version(expression).reads
        except CelCompileError:
            continue
    names = None if reads.attributes is None or reads.capacity is None else reads.attributes | reads.capacity
    slices = [one for one in known if isinstance(one, ResourceSlice)]
    words = DeviceWords(
        names if names is None else frozenset(name.rpartition("/")[2] for name in names),
        frozenset((*(one.spec.driver for one in slices), *(name.rpartition("/")[0] for name in names or ()))),
        frozenset(),
    )
    texts = {*_literals(expressions), *_kept_values(slices, words)}
    return msgspec.structs.replace(words, texts=frozenset(texts))


def without_comments(expression: str, text: Callable[[str], str]) -> str:
    """A CEL expression with the words of its comments replaced."""

    def replaced(found: re.Match[str]) -> str:
        return WORD.sub(lambda word: text(word[0]), found[0]) if found["comment"] else found[0]

    return _TEXT_OR_COMMENT.sub(replaced, expression)


def replaced_amounts(string: str, text: Callable[[str], str]) -> str:
    """A version: its numbers stay."""
    return WORD.sub(lambda word: word[0] if is_amount(word[0]) else text(word[0]), string)


def requested_devices(objects: Iterable[KubeObject]) -> Iterator[DeviceSubRequest]:
    """What claims and templates of claims ask for, each alternative by itself."""
    for claim in _claims(objects):
        for request in claim.requests or ():
            yield from filter(None, (request.exactly, *(request.first_available or ())))


def _claims(objects: Iterable[KubeObject]) -> Iterator[DeviceClaim]:
    for known in objects:
        if isinstance(known, ResourceClaim):
            yield known.spec.devices
        elif isinstance(known, ResourceClaimTemplate):
            yield known.spec.spec.devices


def _expressions(objects: Iterable[KubeObject]) -> Iterator[str]:
    selectors: list[DeviceSelector] = []
    for known in objects:
        if isinstance(known, DeviceClass):
            selectors += known.spec.selectors or ()
    for one in requested_devices(objects):
        selectors += one.selectors or ()
    return (one.cel.expression for one in selectors if one.cel is not None)


def _constrained(objects: Iterable[KubeObject]) -> Iterator[str]:
    for claim in _claims(objects):
        for constraint in claim.constraints or ():
            yield from filter(None, (constraint.match_attribute, constraint.distinct_attribute))


def _literals(expressions: Iterable[str]) -> Iterator[str]:
    for expression in expressions:
        for found in _TEXT_OR_COMMENT.finditer(expression):
            if not found["comment"]:
                yield found[0].strip("\"'")


def _kept_values(slices: Iterable[ResourceSlice], words: DeviceWords) -> Iterator[str]:
    for one in slices:
        for device in one.spec.devices or ():
            for name, attribute in (device.attributes or {}).items():
                if words.keeps(name):
                    yield attribute.string or attribute.version or ""
