"""What the `manifests` commands share: options of an installation, and the user's files that go into it."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from kubesched.cli.inputs import SetupOptions
from kubesched.cli.parameters import option_group
from kubesched.errors import InputError

if TYPE_CHECKING:
    from kubesched.framework import Profile

_NAME: Final = re.compile(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?")  # suffixes are appended; still a valid name
_SCHEDULER_NAME: Final = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")
_FILE_NAME: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")


def _object_name(context: click.Context, option: click.Parameter, value: str) -> str:
    if not _NAME.fullmatch(value):
        raise click.BadParameter(f"found {value!r}; expected up to 40 of a-z, 0-9 and -, with a letter first")
    return value


def _scheduler_name(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _SCHEDULER_NAME.fullmatch(value):
        raise click.BadParameter(f"found {value!r}; expected only a-z, 0-9, - and ., as in spec.schedulerName of a pod")
    return value


class MountedFiles:
    """The files of the user that go into a ConfigMap, and where the container has them.

    Attributes:
        files: their text by the name that they have there.
    """

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self._sources: dict[str, Path] = {}

    def plugin_arguments(self, setup_options: SetupOptions) -> tuple[str, ...]:
        """--plugin and --plugin-args as the container needs them; takes the files in."""
        options = []
        for reference in setup_options.references:
            source, _, class_name = reference.rpartition(":")
            options.append(f"--plugin={self.path(Path(source)) if source.endswith('.py') else source}:{class_name}")
        options += [f"--plugin-args={name}={self.path(Path(file))}" for name, file in setup_options.plugin_args.items()]
        return tuple(options)

    def fields(self, plugin_files: Sequence[Path], profiles: "Iterable[Profile]") -> dict[str, Any]:
        """The fields of `Installation` about plugins and their files; takes further files in."""
        from kubesched.manifests import plugin_grants

        for file in plugin_files:
            self.path(file)
        imports_files = any(file.suffix == ".py" for file in plugin_files)
        return {"files": self.files, "imports_files": imports_files, "plugin_grants": plugin_grants(profiles)}

    def path(self, file: Path) -> str:
        """Take a file in. Returns: its path in the container."""
        from kubesched.manifests import PLUGIN_FOLDER

        name = file.name
        if self._sources.setdefault(name, file).resolve() != file.resolve():
            raise InputError(
                f"{self._sources[name]} and {file} have the same name, but go into the same folder; rename one"
            )
        if not _FILE_NAME.fullmatch(name):
            raise InputError(f"{file}: a ConfigMap accepts only names of a-z, A-Z, 0-9, -, _ and .; rename the file")
        try:
            self.files[name] = file.read_text(encoding="utf-8")
        except OSError as error:
            raise InputError(f"open {file}: {(error.strerror or str(error)).lower()}") from None
        except UnicodeDecodeError as error:
            raise InputError(f"{file}: not UTF-8 text (byte {error.start}); put it into the image") from None
        return f"{PLUGIN_FOLDER}/{name}"


installation_options: Final = option_group(
    click.option("--image", metavar="IMAGE", required=True, help="Image with kubesched, and Python as python3."),
    click.option(
        "--plugin-file",
        "plugin_files",
        metavar="FILE",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Another file that the plugins import or read; it is mounted next to them in /etc/kubesched. Repeatable.",
    ),
    click.option(
        "--name",
        default="kubesched",
        show_default=True,
        callback=_object_name,
        help="Name of the scheduler, its lease and most objects. Use a name once per cluster.",
    ),
    click.option(
        "--namespace",
        default="kube-system",
        show_default=True,
        callback=_object_name,
        help="Namespace of all objects. Some providers allow system-cluster-critical pods only in kube-system.",
    ),
    click.option(
        "--create-namespace",
        "creates_namespace",
        is_flag=True,
        help="Print the namespace, too; deleting the file deletes it.",
    ),
    click.option(
        "--scheduler-name",
        metavar="NAME",
        callback=_scheduler_name,
        help="Value for spec.schedulerName of pods.  [default: the profiles of --config, or --name]",
    ),
)
"""What is installed, and where: --plugin-file, --scheduler-name, and fields of `Installation`."""
