"""The rules that keep the layers of the house, which are those of docs/architecture.md; each returns its findings."""

import ast
import re
from collections.abc import Iterable

from tests.architecture.sources import ROOT, SPLIT, Import, Module, room_of

PAGE = ROOT / "docs/architecture.md"
LABEL, ROOM = slice(20), slice(20, None)  # the columns of the picture: a word where a layer begins, and its rooms
LINE = "---"  # below it is the core


def read_layers(picture: str) -> tuple[list[set[str]], set[str]]:
    """The layers of the picture on the page, from the lowest to the highest, and the rooms of the core."""
    layers: list[set[str]] = []
    n_above = 0
    for line in picture.splitlines():
        room = re.match(r"[a-z_.]+", line[ROOM])
        if line.strip().startswith(LINE):
            n_above = len(layers)
        elif room and line[LABEL].strip():
            layers.append({room[0]})
        elif room:
            layers[-1].add(room[0])
    return layers[::-1], {room for rooms in layers[n_above:] for room in rooms}


LAYERS, CORE = read_layers(re.search(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1])
LEVEL = {room: level for level, rooms in enumerate([*LAYERS, {"__main__"}]) for room in rooms}
BEFORE_DOORS = {"", "lazy_exports", "shown", "version"}  # what a door may load at once
FORBIDDEN_BETWEEN = {("plugins", "queue")}  # a plugin answers for a pod and knows nothing of its waiting
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}

FILES = {"compression", "glob", "gzip", "os", "pathlib", "shutil", "tempfile", "zstandard"}
NETWORK = {"aiohttp", "http", "requests", "select", "selectors", "socket", "socketserver", "ssl", "urllib"}
THREADS = {"concurrent", "multiprocessing", "signal", "subprocess", "threading"}
CLOCK_AND_CHANCE = {"random", "secrets", "time", "uuid"}
CORE_MAY_NOT_IMPORT = FILES | NETWORK | THREADS | CLOCK_AND_CHANCE
RNG_TYPES = {"Random"}  # an rng is handed in; its type has to be named
COROUTINES = {
    "kubesched.scheduler.binding_cycle",
    "kubesched.plugins.default_binder",
    "kubesched.plugins.volume_binding",
}
LOCKED = {"kubesched.lazy_exports"}  # threads of the host may import doors at the same time; a lock starts none
FAULT_TYPES = {"CancelledError"}  # a plugin may raise it; catching it takes its name
EXCEPTION_BASE = re.compile(r"^\w*(Error|Exception|Exceeded)$")  # a name with a dot is a class of a library
CLOCK_CALLS = {"now", "utcnow", "today"}
SUSPECT_NAMES = {"open", "print", "input", "random"} | CLOCK_CALLS
ONLY_IN = {
    "aiohttp": {"cluster", "serving", "extender_client", "extender", "live", "usage"},
    "click": {"cli"},
    "cloudpickle": {"parallel"},
    "distributed": {"parallel"},
    "joblib": {"parallel"},
    "matplotlib": {"shown", "session", "pages.formats", "pages.simulations"},  # but for the last, for annotations
    "pandas": {
        "shown",
        "snapshot",
        "session",
        "explanation",
        "planning",
        "comparison",
        "replay",
        "sweeps",
    },  # but for shown, for annotations
    "prometheus_client": {"metrics", "serving", "extender"},
    "pyarrow": {"sweeps"},
    "rich": {"cli", "pages.formats"},
    "yaml": {"documents"},
}


def check_layers(module: Module) -> list[str]:
    """Imports go downward; rooms on one line do not know each other."""
    if not module.room:
        return []
    if module.room not in LEVEL and not (module.room in SPLIT and module.is_door):
        return [f"{module.name}: room {module.room!r} is not in the picture of docs/architecture.md"]
    found = []
    for target, line in _rooms_imported(module):
        if target == module.room:
            continue
        if target not in LEVEL:
            found.append(f"{module.name}:{line}: {target!r} is no room")
        elif LEVEL[target] >= LEVEL.get(module.room, -1) or (module.room, target) in FORBIDDEN_BETWEEN:
            found.append(f"{module.name}:{line}: {module.room} may not import {target}")
    return found


def check_doors(module: Module, exported: dict[str, list[str]]) -> list[str]:
    """Other rooms are entered by their doors, and only what a door lists comes out.

    A package inside a room has a door too, for the other files of the room.

    Args:
        exported: what each door lists, by dotted module name.
    """
    found = []
    for imported in module.own_imports:
        where = f"{module.name}:{imported.line}"
        if room_of(imported.module) == "":
            found.append(f"{where}: imports from the package root")
        elif room_of(imported.module) == module.room:
            package = imported.module.rpartition(".")[0]
            if module.name.startswith(f"{imported.module}.") and module.room.split(".")[0] not in SPLIT:
                found.append(f"{where}: imports from its own door; inside a room import the module")
            elif not f"{module.name}.".startswith(f"{package}."):
                found.append(f"{where}: goes past the door of {package!r} into {imported.module}")
        elif not _is_door(imported.module):
            found.append(f"{where}: goes past the door of {room_of(imported.module)!r} into {imported.module}")
        else:
            listed = exported.get(imported.module, [])
            found += [f"{where}: {imported.module} does not export {n}" for n in imported.names if n not in listed]
    return found


def check_circles(modules: list[Module]) -> list[str]:
    """No files of one room import each other in a circle, not even for annotations."""
    imports: dict[str, set[str]] = {}
    for module in modules:
        taken = {f"{i.module}.{name}" for i in module.own_imports for name in i.names}
        taken |= {i.module for i in module.own_imports}
        imports[module.name] = {name for name in taken if room_of(name) == module.room}
    reached = {name: _reached(name, imports) for name in imports}
    circles = {tuple(sorted(b for b in reached[a] if a in reached.get(b, ()))) for a in imports if a in reached[a]}
    return [f"{' and '.join(circle)} import each other in a circle" for circle in sorted(circles)]


def check_doors_are_lazy(module: Module) -> list[str]:
    """A door loads nothing of its room before one of its names is used, and its block has nothing but imports."""
    if not module.is_door:
        return []
    loaded = [
        f"{module.name}:{node.lineno}: imports {node.module} outside of `with lazy_exports(__name__)`"
        for node in module.tree.body
        if isinstance(node, ast.ImportFrom) and room_of(node.module or "") not in BEFORE_DOORS
    ]
    others = [
        f"{module.name}:{node.lineno}: is not an import, and other threads that import doors wait for it"
        for block in module.tree.body
        if isinstance(block, ast.With)
        for node in block.body
        if not isinstance(node, ast.ImportFrom)
    ]
    return loaded + others


def check_no_late_imports(module: Module) -> list[str]:
    """An import inside a function hides a cycle; only commands may wait with theirs, for a quick --help."""
    if module.room == "cli" or not module.room:
        return []
    return [
        f"{module.name}:{i.line}: imports {i.module} inside a function" for i in module.own_imports if i.in_function
    ]


def check_core_is_pure(module: Module) -> list[str]:
    """Below the line there is no I/O, clock, thread or chance that was not handed in."""
    if module.room not in CORE:
        return []
    found = [
        f"{module.name}:{i.line}: the core may not import {i.module}" for i in module.imports if _is_impure(module, i)
    ]
    return found + [f"{module.name}:{line}: the core may not call {call}" for call, line in _impure_calls(module)]


def check_libraries(module: Module) -> list[str]:
    """Third-party libraries that belong to one purpose stay in its rooms."""
    return [
        f"{module.name}:{i.line}: {i.module} belongs to {', '.join(sorted(ONLY_IN[i.module.split('.')[0]]))}"
        for i in module.imports
        if module.room not in ONLY_IN.get(i.module.split(".")[0], {module.room})
    ]


def check_names(module: Module) -> list[str]:
    """A function lives with its concept; nothing is called utils."""
    return [f"{module.name}: {part!r} names no concept" for part in module.name.split(".") if part in FORBIDDEN_NAMES]


def check_exceptions(module: Module) -> list[str]:
    """An exception class is in errors.py, unless it is private, of a library, or carries a value of its file."""
    if module.room == "errors":
        return []
    classes = [node for node in module.nodes if isinstance(node, ast.ClassDef)]
    return [
        f"{module.name}:{node.lineno}: {node.name} belongs in errors.py"
        for node in classes
        if not node.name.startswith("_")
        and any(EXCEPTION_BASE.search(ast.unparse(base)) for base in node.bases)
        and not _takes_one_of(node, {other.name for other in classes})
    ]


def _takes_one_of(node: ast.ClassDef, names: set[str]) -> bool:
    """Whether the constructor of a class takes a value of one of these classes."""
    annotations = [
        argument.annotation
        for method in node.body
        if isinstance(method, ast.FunctionDef) and method.name == "__init__"
        for argument in method.args.args
    ]
    return any(isinstance(annotation, ast.Name) and annotation.id in names for annotation in annotations)


def _reached(start: str, imports: dict[str, set[str]]) -> set[str]:
    """Every module that one of the imports of a module leads to."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = imports.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _rooms_imported(module: Module) -> Iterable[tuple[str, int]]:
    for imported in module.own_imports:
        if (package := imported.module.removeprefix("kubesched.")) in SPLIT:
            yield from ((f"{package}.{name}", imported.line) for name in imported.names)
        elif room := room_of(imported.module):
            yield room, imported.line


def _is_door(module: str) -> bool:
    return module == f"kubesched.{room_of(module)}"


def _is_impure(module: Module, imported: Import) -> bool:
    top = imported.module.split(".")[0]
    if top == "asyncio":
        return module.name not in COROUTINES and not (imported.names and set(imported.names) <= FAULT_TYPES)
    if imported.module == "random" and imported.names and set(imported.names) <= RNG_TYPES:
        return False
    if imported.module == "threading" and imported.names == ("RLock",):
        return module.name not in LOCKED
    return top in CORE_MAY_NOT_IMPORT


def _impure_calls(module: Module) -> Iterable[tuple[str, int]]:
    for node in module.nodes:
        if not isinstance(node, ast.Call) or not _last_names(node.func) & SUSPECT_NAMES:
            continue
        call = ast.unparse(node.func)
        owner, _, method = call.rpartition(".")
        reads_clock = method in CLOCK_CALLS and owner.split(".")[-1] in {"datetime", "date"}
        draws = owner in {"np.random", "numpy.random"}
        if call in {"open", "print", "input"} or reads_clock or draws:
            yield call, node.lineno


def _last_names(called: ast.expr) -> set[str]:
    """The name of what is called, and of what it belongs to."""
    owner = getattr(called, "value", None)
    return {getattr(node, "attr", getattr(node, "id", "")) for node in (called, owner)}
