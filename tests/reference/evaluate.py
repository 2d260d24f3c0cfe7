"""What the plugins say about the pending pods of a snapshot, in the fields of tests/golden/README.md.

    python -m tests.reference.evaluate SNAPSHOT.json [--config FILE]            one JSON line per pod and snapshot
    python -m tests.reference.evaluate SNAPSHOT.json [--config FILE] --place    one pod after another

Without --place each pod is held against the snapshot as it stands, plugin by plugin; with it each placement is seen by
the next pod.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.reference import cycle, objects, preemption
from tests.reference.allocation import TooLongError
from tests.reference.cluster import Cluster
from tests.reference.framework import Code, Plugin, Status
from tests.reference.plugins import DynamicResources
from tests.reference.profile import Profile, read_profiles


def answer(case: dict) -> tuple[list[dict], list[dict]]:
    """The `eval` and `place` lines for a recorded case; see campaigns/oracle/compare.py."""
    config = yaml.safe_load(case["config"]) if case["config"] else None
    items = case["snapshot"]["items"]
    return list(evaluate(Cluster(items), config)), list(place(Cluster(items), config))


answer.every_outcome = True  # `preemption` holds every outcome that kube-scheduler could take


def evaluate(cluster: Cluster, config: dict | None) -> Iterator[dict]:
    """`eval`: one report per pending pod."""
    profiles = read_profiles(config)
    for pod in cluster.pending:
        profile = profiles.get(pod["spec"].get("schedulerName") or "default-scheduler")
        if profile:
            try:
                yield without_empty(report(profile, pod, cluster))
            except TooLongError:
                yield {"pod": objects.full_name(pod), "undecided": "the search takes too long"}


def report(profile: Profile, pod: dict, cluster: Cluster) -> dict:
    plugins = profile.new_plugins()
    filtered = cycle.filter_nodes(profile, plugins, pod, cluster)
    result = {
        "pod": objects.full_name(pod),
        "profile": profile.name,
        "preEnqueue": held_back(profile, plugins, pod, cluster),
        "error": first_error(filtered),
        "allocations": allocations(profile, pod, cluster),
        "plugins": {name: verdict(profile.only(name), pod, cluster, name) for name in profile.points["filter"]},
        "filter": {name: as_json(status) for name, status in filtered.statuses.items()},
        "feasible": sorted(node.name for node in filtered.feasible),
    }
    if not filtered.feasible:
        return {**result, "message": message(cluster, filtered)}
    scored = cycle.score_nodes(profile, plugins, pod, cluster, filtered.feasible)
    top = max(scored.total.values())
    return {
        **result,
        "scores": scored.by_plugin,
        "total": scored.total,
        "best": sorted(n for n, t in scored.total.items() if t == top),
    }


def verdict(profile: Profile, pod: dict, cluster: Cluster, name: str) -> dict:
    """One plugin alone, over all nodes, whatever its PreFilter narrows to."""
    plugin = profile.new_plugins()[name]
    if profile.points["preFilter"]:
        answer = plugin.pre_filter(pod, cluster)
        if answer.status:
            return {"preFilter": as_json(answer.status)}
        if answer.skip:
            return {"skipped": True}
    else:
        answer = None
    plugin = cycle.as_filter(profile, plugin)
    rejected = {node.name: plugin.filter(pod, node) for node in cluster.nodes}
    return without_empty(
        {
            "nodes": sorted(answer.nodes) if answer and answer.nodes is not None else [],
            "filter": {node: as_json(status) for node, status in rejected.items() if status},
        }
    )


def held_back(profile: Profile, plugins: dict[str, Plugin], pod: dict, cluster: Cluster) -> dict:
    """What keeps the pod out of the queue; kube-scheduler would not try it."""
    found = (plugins[name].pre_enqueue(pod, cluster) for name in profile.points["preEnqueue"])
    return next((as_json(status) for status in found if status), {})


def first_error(filtered: cycle.Filtered) -> str:
    """The Error on the first node by name, which ends a real attempt."""
    errors = [name for name, status in sorted(filtered.statuses.items()) if status.code == Code.ERROR]
    return filtered.statuses[errors[0]].message if errors else ""


def allocations(profile: Profile, pod: dict, cluster: Cluster) -> dict[str, dict]:
    """What claims would get on each node that DynamicResources alone accepts."""
    name = DynamicResources.name
    if name not in profile.points["filter"] or name not in profile.points["preFilter"]:
        return {}
    plugin = profile.only(name).new_plugins()[name]
    answer = plugin.pre_filter(pod, cluster)
    if answer.status or answer.skip:
        return {}
    accepted = [node for node in cluster.nodes if plugin.filter(pod, node) is None]
    return without_empty({node.name: plugin.reserved(pod, node) for node in accepted})


def place(cluster: Cluster, config: dict | None) -> Iterator[dict]:
    """`place`: the first of the best nodes in file order takes the pod; for a pod that fits nowhere, what
    preemption would do.
    """
    profiles = read_profiles(config)
    for pod in cluster.pending:
        profile = profiles.get(pod["spec"].get("schedulerName") or "default-scheduler")
        if not profile:
            continue
        plugins = profile.new_plugins()
        filtered = cycle.filter_nodes(profile, plugins, pod, cluster)
        result = {"pod": objects.full_name(pod), "profile": profile.name}
        if filtered.feasible:
            total = cycle.score_nodes(profile, plugins, pod, cluster, filtered.feasible).total
            best = max(filtered.feasible, key=lambda node: total[node.name])  # max keeps the first of equals
            cluster.assume(pod, best)
            result["node"] = best.name
        else:
            result["message"] = message(cluster, filtered)
            result |= preemption.post_filter(profile, filtered, pod, cluster)
        yield without_empty(result)


def message(cluster: Cluster, filtered: cycle.Filtered) -> str:
    return cycle.fit_error(len(cluster.nodes), filtered.statuses, filtered.absent, filtered.rejected)


def as_json(status: Status) -> dict:
    return without_empty({"code": status.code.value, "plugin": status.plugin, "reasons": sorted(status.reasons)})


def with_exact_amounts(line: dict) -> dict:
    """A recorded line of `eval` with consumed capacities as numbers; the reference keeps no texts of amounts."""

    def exact(device: dict) -> dict:
        consumed = device.get("consumedCapacity", {}).items()
        return {**device, "consumedCapacity": {name: objects.quantity(amount) for name, amount in consumed}}

    def of_node(claims: dict) -> dict:
        return {claim: {**one, "devices": [*map(exact, one.get("devices") or ())]} for claim, one in claims.items()}

    return {**line, "allocations": {node: of_node(claims) for node, claims in (line.get("allocations") or {}).items()}}


def without_empty(report: dict) -> dict:
    return {key: value for key, value in report.items() if value not in ("", [], {}) or key == "total"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot", type=Path)
    parser.add_argument("--config", type=Path, help="KubeSchedulerConfiguration, YAML")
    parser.add_argument("--place", action="store_true")
    options = parser.parse_args()
    config = yaml.safe_load(options.config.read_text()) if options.config else None
    for line in (place if options.place else evaluate)(Cluster.read(options.snapshot), config):
        sys.stdout.write(json.dumps(line, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
