"""What Kubernetes made of many expressions, recorded by campaigns/cel/record.py."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def recorded(name: str = "recorded") -> dict[str, Any]:
    with gzip.open(Path(__file__).with_name(f"{name}.json.gz")) as f:
        return json.load(f)  # type: ignore[no-any-return]
