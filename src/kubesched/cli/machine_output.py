"""Output for programs: JSON with sorted keys, the same bytes for the same input."""

import json
import sys
from typing import Any

__all__ = ["print_document", "print_line"]


def print_document(document: Any) -> None:
    """Print one document, indented."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n")


def print_line(line: Any) -> None:
    """Print one document on a line of its own."""
    sys.stdout.write(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n")
