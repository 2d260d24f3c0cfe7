"""Builds the example cluster of an imaginary web shop; `make_cluster.py` writes it."""
