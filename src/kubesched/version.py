"""The version of kubesched, which its packages, its image and its chart have, too."""

VERSION = "0.1.0"
