"""Write shop-usage.json: invented measurements of metrics-server for the nodes of ../shop, the same each time.

python make_usage.py
"""

import gzip
import json
import zlib
from pathlib import Path

HERE = Path(__file__).parent


def usage_of(name: str, allocatable: dict[str, str]) -> dict[str, str]:
    """Between 5 and 95 percent of the node, by its name alone; millicores and Ki, as metrics-server writes them."""
    cpu = int(allocatable["cpu"].removesuffix("m")) * (1 if allocatable["cpu"].endswith("m") else 1000)
    memory = int(allocatable["memory"].removesuffix("Ki"))
    busy = zlib.crc32(name.encode())
    return {"cpu": f"{cpu * (5 + busy % 91) // 100}m", "memory": f"{memory * (5 + busy // 91 % 91) // 100}Ki"}


def usage_list() -> str:
    """The file's text."""
    cluster = json.loads(gzip.decompress((HERE / "../shop/cluster.json.gz").read_bytes()))
    items = [
        {
            "metadata": {"name": item["metadata"]["name"]},
            "timestamp": "2026-03-02T08:00:00Z",
            "window": "20s",
            "usage": usage_of(item["metadata"]["name"], item["status"]["allocatable"]),
        }
        for item in cluster["items"]
        if item["kind"] == "Node"
    ]
    lines = ",\n".join(json.dumps(item) for item in items)
    return f'{{"apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetricsList", "items": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    (HERE / "shop-usage.json").write_text(usage_list(), encoding="utf-8")
