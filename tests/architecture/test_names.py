"""A name has one meaning: no class, module or package of src has the name of another one."""

import ast
from collections import defaultdict
from collections.abc import Iterable

from tests.architecture.sources import MODULES, Module, parse_module


def classes(module: Module) -> Iterable[str]:
    """The classes of a module, apart from private ones."""
    found = (node.name for node in module.nodes if isinstance(node, ast.ClassDef))
    return (name for name in found if not name.startswith("_"))


def file_name(module: Module) -> Iterable[str]:
    """The name of a module that is neither a door nor `__main__`."""
    name = module.name.rpartition(".")[2]
    return [] if module.is_door or name == "__main__" else [name]


def package_name(module: Module) -> Iterable[str]:
    """The name of a package below `kubesched`."""
    return [module.name.rpartition(".")[2]] if module.is_door and "." in module.name else []


def is_named_for(module: str, package: str) -> bool:
    """Whether a module has the name of a package for a reason: it is the core of it, or a command about it."""
    return module.startswith((f"{package}.", "kubesched.cli."))


def named_as_packages(modules: Iterable[Module]) -> list[tuple[str, str]]:
    """The modules that have the name of a package which is about something else, and these packages."""
    every = list(modules)
    packages = [(name, one.name) for one in every for name in package_name(one)]
    files = [(name, one.name) for one in every for name in file_name(one)]
    same = [(module, package) for name, module in files for other, package in packages if name == other]
    return [(module, package) for module, package in same if not is_named_for(module, package)]


def twice(modules: Iterable[Module], names_of) -> dict[str, list[str]]:
    """The names that several modules have, and where."""
    places = defaultdict(list)
    for module in modules:
        for name in names_of(module):
            places[name].append(module.name)
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_class_has_the_name_of_another_one():
    assert twice(MODULES, classes) == {}


def test_no_module_has_the_name_of_another_one():
    assert twice(MODULES, file_name) == {}


def test_no_module_has_the_name_of_a_package():
    assert named_as_packages(MODULES) == []


def test_a_module_with_the_name_of_a_package_is_found():
    names = ["kubesched.traces.traces", "kubesched.cli.traces", "kubesched.live.traces"]
    modules = [parse_module("kubesched.traces", "", is_door=True), *(parse_module(name, "") for name in names)]
    assert named_as_packages(modules) == [("kubesched.live.traces", "kubesched.traces")]


def test_a_name_that_is_there_twice_is_found():
    texts = {"kubesched.api.pod": "class Pod: pass\nclass _Pod: pass", "kubesched.state.pod": "class Pod: pass"}
    modules = [parse_module(name, text) for name, text in texts.items()]
    assert twice(modules, classes) == {"Pod": list(texts)}
    assert twice(modules, file_name) == {"pod": list(texts)}
