"""The command line. Each command stands in a module of its own, which is loaded when the command is asked for."""

from kubesched.cli.commands import main

__all__ = ["main"]
