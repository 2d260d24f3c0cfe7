"""The command line. Each command is a separate module, which is loaded when the command runs."""

from kubesched.cli.commands import main

__all__ = ["main"]
