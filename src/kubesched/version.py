"""The version of kubesched, which the package metadata repeats."""

__all__ = ["VERSION"]

VERSION = "0.1.0"
