"""The command line. Each command is a separate module, which is loaded when the command runs."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.cli.commands import main as main
    from kubesched.cli.completion import complete_for_kubectl as complete_for_kubectl
