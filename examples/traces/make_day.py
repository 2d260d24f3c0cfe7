"""Makes day.jsonl.gz: a day of a small cluster with GPUs, from a seed. Run it to make another one.

    python examples/traces/make_day.py SEED > day.jsonl

Services come in the morning and stay. Training jobs come all day, more of them in the afternoon, and ask for whole
GPUs. Notebooks ask for little and last as long as their users. At noon a node goes for two hours.
"""

import json
import math
import sys
from random import Random

DAY = 86_400
HEADING = {"format": "kubesched/trace/v1"}


def node(name, model, cpu, gpus):
    room = {"cpu": str(cpu), "memory": f"{4 * cpu}Gi", "pods": "110"}
    if gpus:
        room["nvidia.com/gpu"] = str(gpus)
    labels = {"kubernetes.io/hostname": name, **({"alibabacloud.com/gpu-card-model": model} if model else {})}
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": room}}


def pod(name, namespace, cpu, gpus=0, priority=0):
    requests = {"cpu": str(cpu), "memory": f"{2 * cpu:g}Gi", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    spec = {"containers": [{"name": "app", "resources": {"requests": requests}}], "priority": priority}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


def nodes():
    yield from (node(f"t4-{i}", "T4", 32, 2) for i in range(6))
    yield from (node(f"v100-{i}", "V100", 64, 8) for i in range(4))
    yield from (node(f"cpu-{i}", "", 32, 0) for i in range(4))


def pods(rng):
    """When each pod comes, what it is, and how long it runs."""
    for i in range(40):
        yield rng.uniform(6, 9) * 3600, pod(f"web-{i}", "shop", rng.choice((1, 2, 4)), priority=100), None
    for i in range(170):
        hour = 14 + rng.gauss(0, 4)
        gpus = rng.choice((1, 1, 1, 2, 2, 4, 8))
        duration = 2400 * math.exp(rng.gauss(0, 1))
        yield hour % 24 * 3600, pod(f"train-{i}", "research", 4 * gpus, gpus), duration
    for i in range(90):
        yield (
            rng.uniform(8, 18) * 3600,
            pod(f"notebook-{i}", "research", 2, rng.choice((0, 0, 1)), 10),
            3600 * rng.uniform(0.5, 6),
        )


def lines(seed):
    rng = Random(seed)
    yield HEADING
    yield from ({"at": 0, "node": one} for one in nodes())
    happening = [{"at": 12 * 3600, "nodeGone": "v100-0"}, {"at": 14 * 3600, "node": node("v100-0", "V100", 64, 8)}]
    for at, one, duration in pods(rng):
        happening.append({"at": round(at), "pod": one, "duration": duration and round(duration), "comesAgain": True})
    yield from sorted(happening, key=lambda line: line["at"])


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else 0):
        print(json.dumps(line))
