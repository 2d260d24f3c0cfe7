"""The version of kubesched, which the package metadata repeats."""

VERSION = "0.1.0"
VERSION_TEXT = f"kubesched {VERSION} (decides like kube-scheduler v1.36)"
"""What `--version` prints."""
