"""Recorded cases: compares the current decisions for a snapshot with recorded ones.

A case is one JSON object with the fields `snapshot` (a v1 List), `config` (KubeSchedulerConfiguration as text, or
null), `eval` (every plugin's opinion of every node, one entry per pending pod) and `place` (where the pods went, one
after another); tests/golden/README.md of kubesched describes the entries. Those there were recorded from kube-scheduler
itself; an author records cases of their plugins and replays them, so that no decision changes unnoticed.
"""

import gzip
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from kubesched.explanation import Explainer
from kubesched.pages.explanations import as_line
from kubesched.pages.simulations import placed_line
from kubesched.scheduler import TieBreak
from kubesched.session import Simulator, place
from kubesched.setup import ArgsLike, PluginLike, set_up
from kubesched.snapshot import load_snapshot

Case = Mapping[str, Any]
Lines = list[dict[str, Any]]

_NO_ARGS: Final[Mapping[str, ArgsLike]] = {}


def run_golden(
    case: str | os.PathLike[str] | Case,
    *,
    configuration: str | None = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
) -> list[str]:
    """Decide a recorded case again.

    Args:
        case: the case, or its file: JSON, packed with gzip or not.
        configuration: text to use in place of the case's own.
        plugins, plugin_args: your plugins, as for load_configuration.
    Returns: one sentence per difference, none when everything is as recorded. Of preemption any recorded outcome is
        right; empty fields and absent ones are the same.
    Raises:
        InputError: the snapshot or the configuration of the case is not valid.
        PluginError: a plugin cannot be loaded or started.
        OSError: the file cannot be read.
        ValueError: the file is not valid JSON.

    Example:
        assert run_golden("tests/cases/team-zone.json.gz", plugins=[TeamZone]) == []
    """
    recorded = case if isinstance(case, Mapping) else _read_case(Path(case))
    text = recorded.get("config") if configuration is None else configuration
    explained, placed = _decide(recorded["snapshot"], text, plugins, plugin_args)
    return [
        *_differences("eval", recorded.get("eval") or [], explained),
        *_differences("place", recorded.get("place") or [], placed),
    ]


def record_golden(
    snapshot: Mapping[str, Any],
    *,
    configuration: str | None = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
) -> dict[str, Any]:
    """Decide a snapshot and give what there is to keep: a case for run_golden, plain values ready for json.dump.

    Args:
        snapshot: a v1 List, as `kubectl get nodes,pods -A -o json` gives it.
    Raises:
        InputError: the snapshot or the configuration is not valid.
        PluginError: a plugin cannot be loaded or started.

    Example:
        case = record_golden({"kind": "List", "items": [make_node("n1").document, make_pod("web").document]})
        assert run_golden(case) == []
    """
    explained, placed = _decide(snapshot, configuration, plugins, plugin_args)
    return {"config": configuration, "snapshot": dict(snapshot), "eval": explained, "place": placed}


def _read_case(path: Path) -> Case:
    packed = path.read_bytes()
    case: Case = msgspec.json.decode(gzip.decompress(packed) if path.suffix == ".gz" else packed)
    return case


def _decide(
    snapshot: Mapping[str, Any], text: str | None, plugins: Iterable[PluginLike], plugin_args: Mapping[str, ArgsLike]
) -> tuple[Lines, Lines]:
    """The lines of `eval` and of `place`."""
    cluster = load_snapshot(io.BytesIO(msgspec.json.encode(snapshot)))
    configuration = text.encode() if text else None
    chosen = list(plugins)
    with Explainer(cluster, set_up(configuration, chosen, plugin_args), nominations=False) as explainer:
        explained = [as_line(explainer.evaluate(pod, preempt=False)) for pod in explainer.pending]
    simulator = Simulator(cluster, set_up(configuration, chosen, plugin_args))
    return _as_json(explained), [placed_line(placed) for placed in place(simulator, TieBreak.FIRST)]


def _as_json(lines: list[Any]) -> Lines:
    """What a file has after writing the lines."""
    read: Lines = msgspec.json.decode(msgspec.json.encode(lines))
    return read


def _differences(mode: str, recorded: Lines, decided: Lines) -> Iterator[str]:
    by_pod = {line["pod"]: line for line in decided}
    order = [line["pod"] for line in recorded]
    if order != list(by_pod):
        yield f"{mode}: the pods are {list(by_pod)}, but the case has {order}"
    for wanted in recorded:
        mine = by_pod.get(wanted["pod"], {})
        for field in sorted({*wanted, *mine}):
            said, kept = _without_empty(mine.get(field)), _without_empty(wanted.get(field))
            if said != kept and not (field == "preemption" and said and all(one in (kept or []) for one in said)):
                yield f"{mode}: pod {wanted['pod']}: {_field_in_words(field, said, kept)}"


def _field_in_words(field: str, said: Any, kept: Any) -> str:
    """The field, and the members of it that differ where it is a table."""
    if isinstance(said, dict) and isinstance(kept, dict):
        member = next(name for name in sorted({*said, *kept}) if said.get(name) != kept.get(name))
        return _field_in_words(f"{field}.{member}", said.get(member), kept.get(member))
    return f"{field} is {said!r}, but the case has {kept!r}"


def _without_empty(value: Any) -> Any:
    """Without empty members at any depth; None where nothing is left. Numbers stay, 0 among them."""
    if isinstance(value, dict):
        value = {name: kept for name, member in value.items() if (kept := _without_empty(member)) is not None}
    elif isinstance(value, list):
        value = [_without_empty(member) for member in value]
    return None if value in ({}, [], "") or value is False else value
