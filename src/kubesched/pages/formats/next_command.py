"""Commands for a reader to run next, about objects whose names come from a cluster."""

from kubesched.api import is_object_key


def command_about(command: str, *names: str, option: str = "") -> str:
    """A command with names of objects, such as `kubesched explain cluster.json --pod shop/web-7`.

    Args:
        command: quoted for a shell; empty for none.
        option: stands before the names.
    Returns:
        empty without a command or a name, or if Kubernetes does not allow a name: a shell could run it.
    """
    if not command or not names or not all(map(is_object_key, names)):
        return ""
    return " ".join([command, *([option] if option else []), *names])
