"""Write sample/: a small invented trace in the form of openb, the same each time.

python make_sample.py
"""

from pathlib import Path
from random import Random

HERE = Path(__file__).parent
NODES = ("8,96000,393216,G2", "2,104000,524288,T4", "2,16000,122880,P100", "4,32000,131072,V100M16")  # gpu, cpu, memory
SHARES = (100, 200, 300, 500, 500, 700)


def nodes(rng: Random) -> str:
    """Half of the nodes have eight GPUs, and the others fewer."""
    kinds = [row.split(",") for row in rng.choices(NODES, (5, 3, 1, 1), k=20)]
    rows = [f"node-{i:02},{cpu},{memory},{gpu},{model}" for i, (gpu, cpu, memory, model) in enumerate(kinds)]
    return "\n".join(("sn,cpu_milli,memory_mib,gpu,model", *rows, ""))


def pods(rng: Random) -> str:
    """Most pods want a share of a GPU or a whole one, some want eight, some none."""
    rows = []
    for i in range(250):
        n_gpus = rng.choices((0, 1, 2, 8), (15, 80, 3, 2))[0]
        share = 0 if not n_gpus else 1000 if n_gpus > 1 else rng.choice((1000, rng.choice(SHARES)))
        cpu = rng.choice((2, 4, 8, 12)) * max(n_gpus, 1)
        begin = rng.randrange(86_400)
        end = begin + rng.randrange(600, 40_000)
        rows.append(f"pod-{i:03},{cpu * 1000},{cpu * 2048},{n_gpus},{share},{begin},{end},{begin}")
    return "\n".join(
        ("name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time", *rows, "")
    )


def files() -> dict[str, str]:
    """The texts of the files by name."""
    rng = Random(1)
    return {"nodes.csv": nodes(rng), "pods.csv": pods(rng)}


if __name__ == "__main__":
    (HERE / "sample").mkdir(exist_ok=True)
    for name, text in files().items():
        (HERE / "sample" / name).write_text(text, encoding="utf-8")
