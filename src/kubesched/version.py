"""The version of kubesched, which the package metadata repeats."""

VERSION = "0.1.0"
VERSION_TEXT = f"kubesched {VERSION} (decides like kube-scheduler v1.33 to v1.37)"
"""What `--version` prints."""
