"""Builds and checks what a release consists of."""
