"""The house keeps its layers: a test for each rule, which lists all that break it; each rule is also shown one."""

import ast
import re

import pytest

from tests.architecture import layers
from tests.architecture.sources import MODULES, check_all, parse_module


def test_the_source_tree_is_found():
    assert any(m.name == "kubesched.errors" for m in MODULES)


def test_every_room_of_the_picture_is_there():
    assert set(layers.LEVEL) - {module.room for module in MODULES} == set()


def test_the_layers_are_read_from_the_picture():
    picture = (
        "   drivers          live            runs\n"
        "                                    and runs\n"
        "                    pages.formats   makes\n"
        "  ------------------------------ below: no I/O\n"
        "   know             state           facts\n"
        "   name             errors          a tree\n"
    )
    assert layers.read_layers(picture) == ([{"errors"}, {"state"}, {"live", "pages.formats"}], {"errors", "state"})


def test_imports_go_downward():
    check_all(layers.check_layers)


def test_rooms_are_entered_by_their_doors():
    exported = {module.name: module.exported for module in MODULES}
    check_all(lambda module: layers.check_doors(module, exported))


def test_doors_load_nothing_before_it_is_used():
    check_all(layers.check_doors_are_lazy)


def test_files_of_a_room_do_not_import_each_other_in_a_circle():
    findings = layers.check_circles(MODULES)
    assert not findings, "\n".join(findings)


def test_no_import_hides_in_a_function():
    check_all(layers.check_no_late_imports)


def test_the_core_does_no_io_and_asks_no_clock():
    check_all(layers.check_core_is_pure)


def test_libraries_stay_in_their_rooms():
    check_all(layers.check_libraries)


def test_exceptions_are_in_one_tree():
    check_all(layers.check_exceptions)


def test_files_are_named_for_a_concept():
    check_all(layers.check_names)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kubesched.api.pod", "from kubesched.state import ClusterState"),
        ("kubesched.api.pod", "from kubesched.engine import Interner"),
        ("kubesched.plugins.x", "from kubesched.queue import SchedulingQueue"),
        ("kubesched.plugins.x", "from kubesched.scheduler import Scheduler"),
        (
            "kubesched.framework.x",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from kubesched.plugins import X",
        ),
        ("kubesched.live.x", "from kubesched.extender import serve"),
        ("kubesched.live.x", "from kubesched.pages import plans"),
        ("kubesched.planning.x", "from kubesched.pages.formats import Table"),
        ("kubesched.pages.formats.x", "from kubesched.pages.plans import fit_page"),
        ("kubesched.attic.x", "import sys"),
        ("kubesched.api.x", "from kubesched.attic import y"),
    ],
)
def test_an_upward_or_sideways_import_is_found(name, text):
    assert len(layers.check_layers(parse_module(name, text))) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kubesched.state.x", "from kubesched.api import Pod"),
        ("kubesched.extender_client", "from kubesched.wire import ExtenderArgs"),
        ("kubesched.plugins.x", "from kubesched.plugins.y import z"),
        ("kubesched.cli.x", "from kubesched.session import Simulator"),
    ],
)
def test_a_downward_import_is_allowed(name, text):
    assert layers.check_layers(parse_module(name, text)) == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("kubesched.state.x", "from kubesched.api.pod import Pod", "past the door of 'api'"),
        ("kubesched.state.x", "import kubesched.api.pod", "past the door of 'api'"),
        ("kubesched.state.x", "from kubesched.api import Hidden", "does not export Hidden"),
        ("kubesched.state.x", "from kubesched import Pod", "package root"),
        ("kubesched.state.x", "import kubesched", "package root"),
        ("kubesched.state.x", "from kubesched.state import Snapshot", "its own door"),
        (
            "kubesched.state.x",
            "from kubesched.state.volumes.claims import y",
            "past the door of 'kubesched.state.volumes'",
        ),
        ("kubesched.state.volumes.x", "from kubesched.state.volumes import y", "its own door"),
        ("kubesched.state.volumes.x", "from kubesched.state import y", "its own door"),
    ],
)
def test_going_past_a_door_is_found(name, text, words):
    (found,) = layers.check_doors(parse_module(name, text), {"kubesched.api": ["Pod"]})
    assert words in found


def test_a_door_that_loads_its_room_is_found():
    door = parse_module("kubesched.state", "from kubesched.state.nodes import Nodes", is_door=True)
    assert len(layers.check_doors_are_lazy(door)) == 1
    text = "with lazy_exports(__name__):\n    from kubesched.state.nodes import Nodes"
    assert layers.check_doors_are_lazy(parse_module("kubesched.state", text, is_door=True)) == []
    text += "\n    NODES = Nodes()"
    assert len(layers.check_doors_are_lazy(parse_module("kubesched.state", text, is_door=True))) == 1


def test_the_doors_of_pages_are_its_packages():
    module = parse_module("kubesched.cli.fit", "from kubesched.pages.plans import fit_page")
    assert layers.check_doors(module, {"kubesched.pages.plans": ["fit_page"]}) == []


def test_every_circle_of_imports_is_found():
    for_annotations = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from kubesched.api import pod"
    texts = {
        "kubesched.api.pod": "from kubesched.api.node import Node",
        "kubesched.api.node": for_annotations,
        "kubesched.api.labels": "from kubesched.api.pod import Pod",
        "kubesched.state.a": "import kubesched.state.b",
        "kubesched.state.b": "import kubesched.state.c\nimport kubesched.api.pod",
        "kubesched.state.c": "import kubesched.state.a",
    }
    assert layers.check_circles([parse_module(name, text) for name, text in texts.items()]) == [
        "kubesched.api.node and kubesched.api.pod import each other in a circle",
        "kubesched.state.a and kubesched.state.b and kubesched.state.c import each other in a circle",
    ]


def test_an_import_inside_a_function_is_found_outside_the_commands():
    text = "def f():\n    from kubesched.api import Pod"
    assert len(layers.check_no_late_imports(parse_module("kubesched.state.x", text))) == 1
    assert layers.check_no_late_imports(parse_module("kubesched.cli.x", text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "import time",
        "from urllib.request import urlopen",
        "import random",
        "from random import choice",
        "import asyncio",
        "open('f')",
        "import datetime\ndatetime.datetime.now(datetime.UTC)",
        "np.random.default_rng()",
    ],
)
def test_impurity_in_the_core_is_found(text):
    assert len(layers.check_core_is_pure(parse_module("kubesched.framework.x", text))) == 1
    assert layers.check_core_is_pure(parse_module("kubesched.live.x", text)) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kubesched.framework.x", "from random import Random"),
        ("kubesched.framework.x", "now = clock.now()"),
        ("kubesched.scheduler.binding_cycle", "import asyncio"),
    ],
)
def test_what_is_handed_in_is_allowed_in_the_core(name, text):
    assert layers.check_core_is_pure(parse_module(name, text)) == []


def test_a_library_outside_its_room_is_found():
    assert len(layers.check_libraries(parse_module("kubesched.state.x", "from rich.table import Table"))) == 1


def test_the_tree_of_exceptions_has_each_of_them():
    (errors,) = (module for module in MODULES if module.name == "kubesched.errors")
    drawn = re.findall(
        r"(?:── |^    )(\w+(?:Error|Exceeded))\b", ast.get_docstring(errors.tree, clean=False), re.MULTILINE
    )
    assert sorted(drawn) == sorted(node.name for node in errors.tree.body if isinstance(node, ast.ClassDef))


@pytest.mark.parametrize("text", ["class X(Exception): pass", "class X(ClusterError): pass", "class X(OSError): pass"])
def test_an_exception_outside_the_tree_is_found(text):
    assert len(layers.check_exceptions(parse_module("kubesched.state.x", text))) == 1
    assert layers.check_exceptions(parse_module("kubesched.errors", text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "class _X(Exception): pass",
        "class X(click.ClickException): pass",
        "class Status: pass\nclass X(Exception):\n    def __init__(self, status: Status): pass",
    ],
)
def test_an_exception_that_belongs_to_its_file_is_allowed(text):
    assert layers.check_exceptions(parse_module("kubesched.state.x", text)) == []


def test_a_file_that_names_no_concept_is_found():
    assert len(layers.check_names(parse_module("kubesched.state.utils", ""))) == 1
