#!/usr/bin/env python3
"""Write the example cluster: cluster.json.gz, a v1 List as `kubectl get nodes,pods,... -A -o json` gives it.

    python examples/shop/make_cluster.py [--output FILE]

The same bytes come out every time. FILE may end in .json for a plain file.
"""

import argparse
import gzip
import json
from pathlib import Path

from generator.cluster import Cluster


def snapshot() -> bytes:
    """The List, one object to a line."""
    items = ",\n".join(json.dumps(item, sort_keys=True, separators=(",", ":")) for item in Cluster().build())
    return f'{{"apiVersion":"v1","items":[\n{items}\n],"kind":"List","metadata":{{"resourceVersion":""}}}}\n'.encode()


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the example cluster of an imaginary web shop.")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("cluster.json.gz"))
    output = parser.parse_args().output
    data = snapshot()
    output.write_bytes(gzip.compress(data, compresslevel=9, mtime=0) if output.suffix == ".gz" else data)


if __name__ == "__main__":
    main()
