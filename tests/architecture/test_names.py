"""A name has one meaning: no class and no module of src has the name of another one."""

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


def test_a_name_that_is_there_twice_is_found():
    texts = {"kubesched.api.pod": "class Pod: pass\nclass _Pod: pass", "kubesched.state.pod": "class Pod: pass"}
    modules = [parse_module(name, text) for name, text in texts.items()]
    assert twice(modules, classes) == {"Pod": list(texts)}
    assert twice(modules, file_name) == {"pod": list(texts)}
