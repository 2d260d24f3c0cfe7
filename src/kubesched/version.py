"""The version of kubesched, which the package metadata repeats."""

VERSION = "0.1.0"
