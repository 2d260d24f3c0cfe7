"""The versions of Kubernetes whose rules kubesched has, as plain values, for options that load nothing else."""

from typing import Final

RECORDED: Final = {33: 13, 34: 4, 35: 4, 36: 3, 37: 2}
"""Minor version -> the patch that its rules were recorded from."""
DEFAULT_MINOR: Final = 36
KNOWN: Final = f"v1.{min(RECORDED)} to v1.{max(RECORDED)}"
"""The versions whose rules kubesched has, as sentences name them."""
KNOWN_NUMBERS: Final = KNOWN.replace("v", "")
"""The same as options take them."""
DEFAULT_NUMBER: Final = f"1.{DEFAULT_MINOR}"
RECORDED_DEFAULT: Final = f"v1.{DEFAULT_MINOR}.{RECORDED[DEFAULT_MINOR]}"
"""The version that the rules of the default release were recorded from."""
