"""What differs between a recorded case with devices and kubesched's answer to it: every field, strictly."""

import re
from collections.abc import Iterator

from campaigns.oracle import product
from campaigns.oracle.compare import Answer, Difference, without_empty
from kubesched.release import release_of

ANY_OF = ("preemption", "deallocated", "postFilterMessage")
"""kube-scheduler takes any of equal candidates, and any claim to give back: what a case lists is right."""

SEVERAL = re.compile(r'\[|\]|, (?=running ")')
"""Between the errors of a preemption, which come in any order."""


def differences(case: dict, answer: Answer = product.answer) -> Iterator[Difference]:
    """Everything in which the answers differ from the recorded ones; empty values and absent ones are the same.

    A pod whose claims leave more choices than kubesched tries is left out. Of a version that takes any device, only the
    nodes that fit are compared.
    """
    takes_first = has_order(case.get("version", "v1.36"))
    for mode, lines in zip(("eval", "place"), answer(case), strict=True):
        got = {line["pod"]: line for line in lines}
        if mode == "place" and not takes_first:
            return
        for wanted in case[mode]:
            mine = got.pop(wanted["pod"], {})
            if mine.get("undecided"):
                continue
            for field in sorted({*wanted, *mine}) if takes_first else ("feasible",):
                recorded, said = without_empty(wanted.get(field)), without_empty(mine.get(field))
                if not is_right(field, recorded, said):
                    yield f"{mode}.{field}", wanted["pod"], recorded, said
        for pod in got:
            yield f"{mode}.pod", pod, None, "answered, but not recorded"


def has_order(version: str) -> bool:
    """Whether a version of kube-scheduler looks through devices in a fixed order, and takes the first."""
    release, _ = release_of(version)
    return not release.before(36)


def is_right(field: str, recorded: object, said: object) -> bool:
    if field in ANY_OF and isinstance(recorded, list) and isinstance(said, list):
        return all(one in recorded for one in said)
    if field == "postFilterMessage" and isinstance(said, str):
        texts = recorded if isinstance(recorded, list) else [recorded or ""]
        return sorted(SEVERAL.split(said)) in [sorted(SEVERAL.split(text)) for text in texts]
    if field == "claims" and isinstance(recorded, list) and isinstance(said, list):
        return [*map(with_users_once, recorded)] == [*map(with_users_once, said)]
    return recorded == said


def with_users_once(claim: dict) -> dict:
    """A claim as written, without users that are there twice: the oracle lets those pass, an API server does not."""
    users = claim.get("reservedFor") or []
    return {**claim, "reservedFor": [user for i, user in enumerate(users) if user not in users[:i]]}
