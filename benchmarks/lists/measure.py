"""Measure lists in this process and print one JSON object per list, question and number of entries.

    python benchmarks/lists/measure.py --lists NAME,... --questions NAME,... [--sizes 10,100,1000] [--profile N]

The questions:

- cycle: a pod with the list comes, and then a plain pod: from the bytes of the first to the decision about the second.
- preempt: the same, and the first pod fits only where others are evicted.
- beside: pods with the list are on twenty nodes, and one more comes to its node; then a plain pod that no pod before
  was like.
- beside-preempt: the same, and the plain pod fits only where others are evicted.
- explain: `kubesched explain` for a pod with the list that fits only where others are evicted, from objects to the line
  of JSON.

Each is asked about three pods, of which no two share an entry; the figure is the median. All are asked in one cluster,
and what one question has added goes before the next. Where 100 entries take more than 0.2 s, 1,000 are not tried.
"""

import argparse
import cProfile
import json
import pstats
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # as a script this file stands outside the package
from benchmarks.lists.cluster import Object, base, container, pod
from benchmarks.lists.lists import LISTS, STORAGE_CLASS, Long
from kubesched import Explainer, Simulator, set_up
from kubesched.api import EventType, KubeObject, Pod, WatchEvent, decode_object
from kubesched.framework import Decision
from kubesched.pages.explanations import as_line

N_ASKED, N_BESIDE = 3, 20
TOO_LONG_MS = 200
MAX_BYTES = 1_500_000
"""What etcd takes of one object; the API server refuses more."""

Answered = Callable[["Question"], None]
"""Called with each question that has its answer."""

_serial = count()


@dataclass
class Question:
    """One question about one list with so many entries.

    Attributes:
        n_beside: how many pods with the list are on nodes before.
        n_asked: how many pods are asked about.
        objects: what exists before, besides the base.
        asked: the pods with the list, or those that come to their node.
        plain: a plain pod for each of them.
        seconds: the answer, CPU seconds for each pair.
        profile: what takes the time; None where nobody looks.
    """

    list_name: str
    name: str
    n: int
    n_beside: int = N_BESIDE
    n_asked: int = N_ASKED
    objects: list[Object] = field(default_factory=list)
    asked: list[Object] = field(default_factory=list)
    plain: list[Object] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    profile: cProfile.Profile | None = None

    def __post_init__(self) -> None:
        is_beside, is_large = self.name.startswith("beside"), self.name in ("preempt", "explain")
        for i in range(self.n_asked):
            word = f"w{next(_serial)}"
            long = LISTS[self.list_name](self.n, word)
            self.objects += long.objects
            asked = _pod(f"asked-{word}", long, priority=0 if is_beside else 10, is_large=is_large)
            cpu = "2" if self.name == "beside-preempt" else "100m"
            plain = {"containers": [container(cpu=cpu)]}
            self.plain.append(pod(f"plain-{word}", plain, {"app": "web", "n": word}, priority=5))
            self.asked.append(asked)
            if is_beside:
                asked["spec"]["nodeName"] = f"node-{self.n_beside + i:05}"
                for k in range(i, self.n_beside, self.n_asked):
                    other = _pod(f"beside-{word}-{k}", long, priority=0, is_large=False)
                    other["spec"]["nodeName"] = f"node-{k:05}"
                    self.objects.append(other)

    @property
    def waiting(self) -> list[Object]:
        """The pods that are pending."""
        return self.plain if self.name.startswith("beside") else self.asked

    @property
    def ms(self) -> float:
        """The figure."""
        return round(1000 * statistics.median(self.seconds), 2)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the CPU time of a block as one answer."""
        began = time.process_time()
        if self.profile is not None:
            self.profile.enable()
        yield
        if self.profile is not None:
            self.profile.disable()
        self.seconds.append(time.process_time() - began)


def _pod(name: str, long: Long, *, priority: int, is_large: bool) -> Object:
    spec = {**long.spec, "preemptionPolicy": "PreemptLowerPriority" if is_large else "Never"}
    if is_large:
        spec["containers"] = [*spec.get("containers", []), container("large", "2")]
    made = pod(name, spec, long.labels, priority=priority, **long.metadata)
    size = len(json.dumps(made, separators=(",", ":")))
    if size > MAX_BYTES:
        raise ValueError(f"a pod of {size} bytes: an API server would not accept it")
    return made


def questions(lists: Iterable[str], names: Iterable[str], sizes: Iterable[int], **more: int) -> Iterator[Question]:
    """All of them, by list; a longer list is left out where a shorter one took too long already."""
    for list_name in lists:
        for name in names:
            for n in sizes:
                question = Question(list_name, name, n, **more)
                yield question
                if n >= 100 and question.ms > TOO_LONG_MS:
                    break


def explain(asked: Iterable[Question], known: list[KubeObject], answered: Answered) -> None:
    """Answer questions about explanations."""
    explainer = Explainer([*known, decoded(STORAGE_CLASS), _warm()], set_up())
    as_line(explainer.evaluate(explainer.pending[0]))
    for question in asked:
        for one in question.objects:
            explainer.cluster_state.apply(_event(EventType.ADDED, one))
        for one in question.asked:
            incoming = decoded(one)
            with question.timed():
                as_line(explainer.evaluate(incoming))
        for one in reversed(question.objects):
            explainer.cluster_state.apply(_event(EventType.DELETED, one))
        answered(question)


def schedule(asked: Iterable[Question], known: list[KubeObject], answered: Answered) -> None:
    """Answer all other questions: what comes next comes after the decision about a plain pod."""
    simulator = Simulator([*known, decoded(STORAGE_CLASS), _warm()])
    evicted: list[Pod] = []
    script = _script(simulator, asked, answered, evicted)
    awaited: str | None = "warm"

    def after(decision: Decision) -> None:
        nonlocal awaited
        evicted.extend(info.pod for info in decision.victims)
        if decision.pod.name == awaited:
            awaited = next(script, None)

    simulator.decisions = after
    simulator.run()


def _script(simulator: Simulator, asked: Iterable[Question], answered: Answered, evicted: list[Pod]) -> Iterator[str]:
    """Let pods come and go. Yields: the pod whose decision has to come first."""

    def tell(kind: EventType, *documents: Object) -> None:
        for one in documents:
            simulator.scheduler.handle_event(_event(kind, one))

    for question in asked:
        tell(EventType.ADDED, *question.objects)
        for first, plain in zip(question.asked, question.plain, strict=True):
            lines = [(one["kind"], json.dumps(one).encode()) for one in (first, plain)]
            with question.timed():
                for kind, line in lines:
                    simulator.scheduler.handle_event(WatchEvent(EventType.ADDED, kind, decode_object(kind, line)))
                yield str(plain["metadata"]["name"])
            last = pod(f"after-{plain['metadata']['name']}", {}, priority=20)
            tell(EventType.ADDED, last)
            yield str(last["metadata"]["name"])  # then pods have been bound and evicted
            tell(EventType.DELETED, first, plain)
            while evicted:  # the next pod shall find no room either
                simulator.scheduler.handle_event(WatchEvent(EventType.ADDED, "Pod", evicted.pop()))
        tell(EventType.DELETED, *reversed(question.objects))
        answered(question)


def _event(kind: EventType, document: Object) -> WatchEvent:
    return WatchEvent(kind, document["kind"], decoded(document))


def _warm() -> KubeObject:
    return decoded(pod("warm", {}, {"app": "warm"}))


def decoded(document: Object) -> KubeObject:
    """The object that a document is read as."""
    return decode_object(document["kind"], json.dumps(document).encode())


def main() -> None:
    options = parsed()
    sizes, names = [int(n) for n in options.sizes.split(",")], options.questions.split(",")
    if options.snapshots:
        for question in questions(options.lists.split(","), names, sizes[-1:]):
            items = [*base(options.nodes), STORAGE_CLASS, *question.objects, *question.waiting]
            name = f"{question.list_name}.{question.name}.json"
            (options.snapshots / name).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        return
    known = [decoded(one) for one in base(options.nodes)]
    for answer, is_explain in ((schedule, False), (explain, True)):
        some = [name for name in names if (name == "explain") == is_explain]
        asked = _profiled(questions(options.lists.split(","), some, sizes), options.profile)
        if some:
            answer(asked, known, partial(_show, options.profile))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", required=True)
    parser.add_argument("--questions", required=True)
    parser.add_argument("--sizes", default="10,100,1000")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--profile", type=int, default=0, help="also print so many functions of each")
    parser.add_argument(
        "--snapshots", type=Path, help="write the clusters of the longest lists into this folder instead"
    )
    return parser.parse_args()


def _profiled(asked: Iterable[Question], n_functions: int) -> Iterator[Question]:
    for question in asked:
        question.profile = cProfile.Profile() if n_functions else None
        yield question


def _show(n_functions: int, question: Question) -> None:
    each = [round(1000 * seconds, 2) for seconds in question.seconds]
    figures = {"list": question.list_name, "question": question.name, "n": question.n, "ms": question.ms, "each": each}
    print(json.dumps(figures), flush=True)
    if question.profile is not None:
        pstats.Stats(question.profile).sort_stats("tottime").print_stats(n_functions)


if __name__ == "__main__":
    main()
