"""The versions of Kubernetes whose rules kubesched has, as plain values, for options that load nothing else."""

from typing import Final

RECORDED: Final = {33: 13, 34: 4, 35: 4, 36: 3, 37: 2}
"""Minor version -> the patch that its rules were recorded from."""
CORRECTED: Final = {34: 13, 35: 10, 36: 6}
"""Minor version -> the first patch that corrects a rule of the recorded one: namespaceSelectors of InterPodAffinity.

Rule: release notes of these patches, PR 142049, PR 142050 and PR 141563.
"""
EARLIER: Final = {
    33: (6, "host ports of sidecars count (PR 133390)"),
    34: (2, "texts do not name an untolerated taint (PR 135023)"),
}
"""Minor version -> a patch before the recorded one, and what is so since it. Rule: release notes of these patches."""
DEFAULT_MINOR: Final = 36
KNOWN: Final = f"v1.{min(RECORDED)} to v1.{max(RECORDED)}"
"""The versions whose rules kubesched has, as sentences name them."""
KNOWN_NUMBERS: Final = KNOWN.replace("v", "")
"""The same as options take them."""
DEFAULT_NUMBER: Final = f"1.{DEFAULT_MINOR}"
RECORDED_DEFAULT: Final = f"v1.{DEFAULT_MINOR}.{RECORDED[DEFAULT_MINOR]}"
"""The version that the rules of the default release were recorded from."""
