"""Doors that load a module when one of its names is used."""

import builtins
import sys
from contextlib import suppress
from threading import Barrier, BrokenBarrierError, Event, Thread
from types import ModuleType

import pytest

from kubesched.lazy_exports import lazy_exports

DOOR = """
from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__, "OWN"):
    from {0}.plan import NAME, plan
    from {0}.words import shout as cry

OWN = 1
"""
PLAN = "from {0}.words import shout\nNAME = shout('plan')\ndef plan(): return NAME\n"
WORDS = "def shout(word): return word.upper()\n"


@pytest.fixture
def house(tmp_path, monkeypatch, request):
    """The name of a package whose door is lazy; each test has another one."""
    name = f"house_{abs(hash(request.node.name))}"
    folder = tmp_path / name
    folder.mkdir()
    for file, text in (("__init__", DOOR), ("plan", PLAN), ("words", WORDS)):
        (folder / f"{file}.py").write_text(text.format(name))
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]


def take(house: str, *names: str) -> tuple[object, ...]:
    """What `from HOUSE import NAME, ...` gives."""
    taken: dict[str, object] = {}
    exec(f"from {house} import {', '.join(names)}", taken)
    return tuple(taken[name] for name in names)


def loaded(house: str) -> set[str]:
    return {module.removeprefix(f"{house}.") for module in sys.modules if module.startswith(f"{house}.")}


def test_a_module_is_loaded_when_one_of_its_names_is_used(house):
    __import__(house)
    assert loaded(house) == set()
    (cry,) = take(house, "cry")
    assert (cry("a"), loaded(house)) == ("A", {"words"})
    assert take(house, "NAME") == ("PLAN",)
    assert loaded(house) == {"plan", "words"}


def test_a_name_is_the_same_object_each_time(house):
    assert take(house, "plan") == take(house, "plan")
    assert take(house, "plan")[0] is sys.modules[f"{house}.plan"].plan


def test_the_import_of_a_module_does_not_hide_an_export_with_its_name(house):
    __import__(f"{house}.plan")
    (plan,) = take(house, "plan")
    assert plan() == "PLAN"


def test_every_export_is_listed_before_it_is_loaded(house):
    door = __import__(house)
    assert {"NAME", "cry", "plan"} <= set(dir(door))
    assert door.__all__ == ["NAME", "OWN", "cry", "plan"]
    assert loaded(house) == set()
    taken: dict[str, object] = {}
    exec(f"from {house} import *", taken)
    assert taken["NAME"] == "PLAN"


def test_a_name_that_the_door_does_not_have_is_reported_as_for_other_modules(house):
    with pytest.raises(AttributeError, match=f"module '{house}' has no attribute 'shout'"):
        __import__(house).shout  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'shout'"):
        take(house, "shout")


def test_other_imports_in_the_block_are_carried_out(house, tmp_path):
    (tmp_path / f"{house}_other.py").write_text("import kubesched.version as carried_out\n")
    (tmp_path / house / "__init__.py").write_text(
        "from importlib import import_module\n"
        + DOOR.format(house).replace("    from", f"    import_module('{house}_other')\n    from", 1)
    )
    __import__(house)
    assert sys.modules[f"{house}_other"].carried_out.VERSION


def test_imports_are_as_before_after_the_block(house):
    before = builtins.__import__
    __import__(house)
    assert builtins.__import__ is before


def test_doors_that_threads_read_at_the_same_time_are_both_lazy(house, monkeypatch):
    """Each thread notes a name, waits for the other one, and notes another; the first one ends first."""
    before, met, first_ended = builtins.__import__, Barrier(2), Event()
    doors = [ModuleType(f"{house}_door_{i}") for i in range(2)]

    def meet() -> None:
        with suppress(BrokenBarrierError):
            met.wait(0.2)  # only one of them comes here if one waits for the other's end

    def read(door: ModuleType, *, is_first: bool) -> None:
        with lazy_exports(door.__name__):
            exec(f"from {house}.plan import NAME", door.__dict__)
            meet()
            if not is_first:
                first_ended.wait(0.2)
            exec(f"from {house}.words import shout", door.__dict__)
        if is_first:
            first_ended.set()

    for door in doors:
        monkeypatch.setitem(sys.modules, door.__name__, door)
    threads = [Thread(target=read, args=(door,), kwargs={"is_first": door is doors[0]}) for door in doors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builtins.__import__ is before
    assert [door.__all__ for door in doors] == [["NAME", "shout"]] * 2
    assert loaded(house) == set()
