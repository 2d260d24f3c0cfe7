"""An answer is a frozen record: it holds no session, cluster state, framework, plugin or state of a cycle."""

import enum
import types
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from kubesched.comparison import Candidate, compare, packed
from kubesched.explanation import Explainer, Explanation
from kubesched.framework import CycleState, Framework, Plugin
from kubesched.planning import Drainer, WhatIf, compared, drain, fit, new_pods
from kubesched.session import Session
from kubesched.state import ClusterState, NodeColumns, Nodes, Snapshot
from tests.cli.clusters import shop

ALIVE = (Session, ClusterState, NodeColumns, Nodes, Snapshot, Framework, Plugin, CycleState)
IMMUTABLE = (str, bytes, int, float, bool, type(None), enum.Enum, np.ndarray, np.generic, type)


def parts(one: object) -> Iterator[object]:
    """What an object holds."""
    if isinstance(one, dict):
        yield from one
        yield from one.values()
    elif isinstance(one, list | tuple | set | frozenset):
        yield from one
    elif isinstance(one, types.FunctionType):
        yield from (cell.cell_contents for cell in one.__closure__ or () if cell.cell_contents is not one)
        yield from one.__defaults__ or ()
    elif isinstance(one, types.MethodType):
        yield one.__self__
    else:
        names = {name for of in type(one).__mro__ for name in getattr(of, "__slots__", ())}
        names |= set(getattr(one, "__struct_fields__", ())) | set(getattr(one, "__dict__", ()))
        yield from (getattr(one, name) for name in names if hasattr(one, name) and not name.startswith("__"))


def held(answer: object) -> list[str]:
    """The paths by types to what an answer must not hold."""
    found, seen, left = [], {}, [(answer, type(answer).__name__)]
    while left:
        one, path = left.pop()
        if id(one) in seen or isinstance(one, IMMUTABLE):
            continue
        seen[id(one)] = one
        if isinstance(one, ALIVE):
            found.append(path)
        else:
            left += [(part, f"{path}.{type(part).__name__}") for part in parts(one)]
    return found


def explained(pod: str) -> Explanation:
    with Explainer(shop()) as explainer:
        return next(explainer.each(pod, max_fixes=8, nodes=None))


def difference() -> object:
    objects = shop()
    with Session(objects, new=new_pods(objects)) as session:
        return compared(session, WhatIf(cordon=("n2",)).applied(objects))


def each_drain() -> object:
    with Drainer(shop()) as drainer:
        return [*drainer.each(), drainer.most()]


def report() -> object:
    with Session(shop()) as session:
        return session.schedule()


ANSWERS: dict[str, Callable[[], object]] = {
    "an explanation": lambda: explained("default/huge"),
    "an explanation of a pod that fits": lambda: explained("default/fits"),
    "an explanation of a pod that preempts": lambda: explained("default/urgent"),
    "an explanation of a pod on a node": lambda: explained("default/cheap"),
    "a report": report,
    "a report with a change": difference,
    "a drain": lambda: drain(shop(), ["n1"]),
    "the drains of each node": each_drain,
    "a fit": lambda: fit(shop(), {"cpu": "1"}),
    "a comparison": lambda: compare(shop(), None, packed(Candidate("MostAllocated")), seeds=5),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_a_frozen_record_without_what_made_it(name: str) -> None:
    answer = ANSWERS[name]()
    for one in answer if isinstance(answer, list | tuple) else [answer]:
        assert type(one).__struct_config__.frozen
    assert held(answer) == []


def test_what_makes_an_answer_is_found_in_closures_and_tables() -> None:
    with Session(shop()) as session:
        assert held({"a": [lambda: session.cluster_state]}) == ["dict.list.function.Session"]
        assert held([session.fill]) == ["list.method.Session"]
