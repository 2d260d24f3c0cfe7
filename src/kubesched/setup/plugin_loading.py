"""Imports plugin classes, which runs other people's code; whatever that does wrong becomes one sentence."""

import importlib
import inspect
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Final, NamedTuple

from kubesched.config import did_you_mean
from kubesched.errors import PluginDefinitionError
from kubesched.framework import HOOKS, Plugin, in_one_line, keeping_definition_faults


class FileRun(NamedTuple):
    """The file that a module was made from; another process makes the same module of it."""

    path: str
    place: Path
    source: bytes


_RUN: Final[dict[str, FileRun]] = {}  # by the name of its module; as many as there are different paths


def run_file(path: str) -> ModuleType:
    """Run a file as a module, unless it has run and has the same contents; a path has one module at a time.

    Raises:
        PluginDefinitionError: it is not there, or fails.
    """
    try:
        run = FileRun(path, Path(path).absolute(), Path(path).read_bytes())
    except FileNotFoundError as error:
        raise PluginDefinitionError(f"{path}: no such file") from error
    except OSError as error:
        raise PluginDefinitionError(_reason(path, error)) from error
    return module_of(run)


def module_of(run: FileRun) -> ModuleType:
    """The module of a file, which runs unless that has been done.

    Raises:
        PluginDefinitionError: it fails.
    """
    name = _module_name(run)
    return sys.modules[name] if name in sys.modules and _RUN[name] == run else _ran(name, run)


def file_run(module: str) -> FileRun | None:
    """The file that a module was made from; None for a module that Python imports by its name."""
    return _RUN.get(module)


def _module_name(run: FileRun) -> str:
    """The name that a module of this path has, or the first free one."""
    name = f"kubesched_plugin_file_{run.place.stem}"
    while name in sys.modules and _RUN[name][:2] != run[:2]:
        name += "_"
    return name


def _ran(name: str, run: FileRun) -> ModuleType:
    loader = SourceFileLoader(name, run.path)
    spec = spec_from_loader(name, loader)
    if spec is None:
        raise PluginDefinitionError(f"{run.path} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # annotations of Args classes are looked up there
    try:
        with keeping_definition_faults():
            exec(loader.source_to_code(run.source, run.path), module.__dict__)
    except (Exception, SystemExit) as error:  # the file may do anything
        del sys.modules[name]
        raise PluginDefinitionError(_reason(run.path, error)) from error
    _RUN[name] = run
    return module


def import_module(name: str) -> ModuleType:
    """Import a module.

    Raises:
        PluginDefinitionError: it is not there, or fails.
    """
    try:
        with keeping_definition_faults():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        advice = "Python searches for it in sys.path, which includes PYTHONPATH"
        raise PluginDefinitionError(f"{name}: no module {error.name}; {advice}") from error
    except (Exception, SystemExit) as error:  # the module may do anything
        raise PluginDefinitionError(_reason(name, error)) from error


def _reason(source: str, error: BaseException) -> str:
    """What went wrong while a module ran, and in which of its lines."""
    if isinstance(error, SyntaxError):
        return f"{source}: {f'line {error.lineno}: ' if error.lineno else ''}{error.msg}"
    line = _line_in(source, error.__traceback__)
    return f"{source}: {f'line {line}: ' if line else ''}{in_one_line(error)}"


def _line_in(source: str, traceback: TracebackType | None) -> int | None:
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == source:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def find_class(module: ModuleType, name: str, source: str) -> type[Plugin]:
    """A plugin class of a module.

    Args:
        source: names the module in messages.
    Raises:
        PluginDefinitionError: it does not have the class, or the class is not a plugin.
    """
    member = getattr(module, name, None)
    if isinstance(member, type) and issubclass(member, Plugin) and member is not Plugin:
        if member.definition_fault is not None:
            raise PluginDefinitionError(f"{source}: {_line_of(member)}{member.definition_fault}", plugin=name)
        return member
    classes = _defined_in(module)
    plugins = list(classes)
    listed = f"it defines {', '.join(plugins)}" if plugins else "it defines no plugin"
    if member is None:
        named = next((key for key, value in classes.items() if value.name == name), "")
        near = f"the class of the plugin {name} is {named}; write {named}" if named else did_you_mean(name, plugins)
        raise PluginDefinitionError(f"{source} has no class {name}; {near or listed}", plugin=name)
    raise PluginDefinitionError(
        f"{source}:{name} is not a Plugin subclass; derive it from kubesched.Plugin; {listed}", plugin=name
    )


def _line_of(plugin_class: type[Plugin]) -> str:
    """The line where a class begins, as messages have it; empty where it is not known."""
    try:
        return f"line {inspect.getsourcelines(plugin_class)[1]}: "
    except (OSError, TypeError):
        return ""


def check_takes_part(plugin_class: type[Plugin], origin: str) -> None:
    """A class without a hook would be enabled nowhere; most often the name of its method is spelt wrong."""
    if plugin_class.extension_points() or plugin_class.defines("preempt"):
        return
    hooks = [hook for forms in HOOKS.values() for hook in forms]
    spelt = {name: did_you_mean(name, hooks) for name in vars(plugin_class) if not name.startswith("_")}
    near = "".join(f"\n  {name}: {question}" for name, question in spelt.items() if question)
    raise PluginDefinitionError(
        f"{origin}:{plugin_class.__name__} defines no extension point, so it would never be called; define one "
        f"or more of {', '.join(hooks)}{near}",
        plugin=plugin_class.name,
    )


def _defined_in(module: ModuleType) -> dict[str, type[Plugin]]:
    """The plugin classes of a module, without those that it imports."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Plugin) and value.__module__ == module.__name__
    }
