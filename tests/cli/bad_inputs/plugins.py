"""Plugins that cannot be loaded or made, and arguments that are not theirs."""

from tests.cli.bad_inputs.case import Case

IMPORTS = "from kubesched import Plugin, PluginArgs, Status\n"


def plugin(text: str | bytes, *words: str, command: str = "simulate cluster.json") -> Case:
    """The class P in a file of its own."""
    content = text if isinstance(text, bytes) or "Plugin" not in text else IMPORTS + text
    return Case(f"{command} --plugin p.py:P", ("p.py", *words), {"p.py": content})


def made(text: str, *words: str) -> Case:
    """A class that loads; making an instance for a profile fails."""
    words = ("creating profile for scheduler name default-scheduler", 'initializing plugin "P": ', *words)
    return Case("simulate cluster.json --plugin p.py:P", words, {"p.py": IMPORTS + text})


def arguments(text: str | bytes, *words: str) -> Case:
    line = "simulate cluster.json --plugin team_zone.py:TeamZone --plugin-args TeamZone=args.yaml"
    return Case(line, ("args.yaml", *words), {"args.yaml": text})


FILTER = "    def filter(self, state, pod, node): return Status.SUCCESS\n"
SCORE = "    def score(self, state, pod, node): return 1\n"

PLUGINS = {
    "no class named": Case(
        "plugin list --plugin team_zone.py", ('plugin "team_zone.py": write FILE.py:Class or package.module:Class',)
    ),
    "no file": Case("plugin list --plugin gone.py:P", ("gone.py: no such file",)),
    "no file, simulating": Case("simulate cluster.json --plugin gone.py:P", ("gone.py: no such file",)),
    "no module": Case("plugin list --plugin no_such.zone:P", ("no_such.zone: no module no_such",)),
    "no such class": Case("plugin list --plugin team_zone.py:P", ("team_zone.py has no class P; it defines TeamZone",)),
    "nearly the class": Case(
        "explain cluster.json --pod shop/web-1 --plugin team_zone.py:TeamZon",
        ('team_zone.py has no class TeamZon; did you mean "TeamZone"?',),
    ),
    "a syntax error": plugin("x = 1\nclass P(:\n", ": line 2: invalid syntax"),
    "a wrong indent": plugin("x = 1\n  y = 2\n", ": line 2: unexpected indent"),
    "binary": plugin(b"x = '\0'\n", ": source code string cannot contain null bytes"),
    "an import that fails": plugin("import no_such\n", ": line 1: ModuleNotFoundError: No module named 'no_such'"),
    "a file that raises": plugin("x = {}\nx['zone']\n", ": line 2: KeyError: 'zone'"),
    "a file that raises a page": plugin("raise ValueError('a\\n' * 5000)\n", ": line 1: ValueError: a a a", "..."),
    "a file that exits": plugin("import sys\nsys.exit(0)\n", ": line 2: SystemExit: 0"),
    "a file without end": plugin("def f(): f()\nf()\n", ": line 1: RecursionError: maximum recursion depth exceeded"),
    "a class that is no plugin": plugin(
        "class P: pass\n", ":P is not a Plugin subclass; derive it from kubesched.Plugin"
    ),
    "a function": plugin("def P(): pass\n", ":P is not a Plugin subclass", "it defines no plugin"),
    "two forms of one rule": plugin(
        f"class P(Plugin):\n{FILTER}    def filter_nodes(self, state, pod, nodes): return 0\n",
        ": P defines both filter and filter_nodes; delete one of them",
    ),
    "a wrong signature": plugin(
        "class P(Plugin):\n    def score(self, pod): return 1\n",
        ": P.score must be callable as score(self, state, pod, node); found score(self, pod)",
    ),
    "a hook that is no method": plugin(
        "class P(Plugin):\n    filter = 5\n", ": P.filter must be a method", "found int"
    ),
    "a coroutine in the cycle": plugin(
        "class P(Plugin):\n    async def filter(self, state, pod, node): ...\n", ": P.filter is a coroutine; only start"
    ),
    "no extension point": plugin(
        "class P(Plugin):\n    def fliter(self, state, pod, node): ...\n",
        'p.py: line 2: P.fliter is not a hook, so the scheduler never calls it; did you mean "filter"?',
    ),
    "no extension point, listing": plugin(
        "class P(Plugin):\n    def start(self, handle): ...\n", "defines no extension point", command="plugin list"
    ),
    "arguments of another kind": plugin(f"class P(Plugin):\n    Args = dict\n{SCORE}", ": P.Args is <class 'dict'>"),
    "a dependence that is none": plugin(
        "class P(Plugin):\n    depends_on = 'node'\n", ": P.depends_on is 'node'; expected one of DependsOn.NODE"
    ),
    "the name of an in-tree plugin": Case(
        "simulate cluster.json --plugin p.py:NodeName",
        ("a plugin named NodeName already exists\n  one is in-tree, the other is from p.py",),
        {"p.py": f"{IMPORTS}class NodeName(Plugin):\n{FILTER}"},
    ),
    "the same name from two files": Case(
        "simulate cluster.json --plugin team_zone.py:TeamZone --plugin p.py:TeamZone",
        ("a plugin named TeamZone already exists\n  one is team_zone.py, the other is from p.py",),
        {"p.py": f"{IMPORTS}class TeamZone(Plugin):\n{FILTER}"},
    ),
    "a constructor that raises": made(
        f"class P(Plugin):\n    def __init__(self, args): raise KeyError('zone')\n{SCORE}", "KeyError: 'zone'"
    ),
    "a constructor without arguments": made(
        f"class P(Plugin):\n    def __init__(self): pass\n{SCORE}",
        "TypeError: P.__init__() takes 1 positional argument",
    ),
    "an argument without a default": made(
        f"class P(Plugin):\n    class Args(PluginArgs):\n        zone: str\n{SCORE}", "zone: Required value"
    ),
    "a start that fails": Case(
        "simulate cluster.json --plugin p.py:P",
        ('starting plugin "P": FileNotFoundError: ', "usage.json"),
        {"p.py": f"{IMPORTS}class P(Plugin):\n    def start(self, handle): open('usage.json')\n{SCORE}"},
    ),
    "a second queue sort": Case(
        "simulate cluster.json --plugin p.py:P",
        ("only one queue sort plugin required", "enabled are PrioritySort, P; leave exactly one enabled"),
        {"p.py": f"{IMPORTS}class P(Plugin):\n    def less(self, a, b): return True\n"},
    ),
}

ARGUMENTS = {
    "arguments without a file": Case("simulate cluster.json --plugin-args TeamZone", ("'TeamZone'", "write NAME=FILE")),
    "arguments given twice": Case(
        "simulate cluster.json --plugin-args A=a.yaml --plugin-args A=b.yaml", ("'--plugin-args'", "A is given twice")
    ),
    "arguments of nobody": Case(
        "simulate cluster.json --plugin team_zone.py:TeamZone --plugin-args TeamZoe=good.yaml",
        ('arguments for TeamZoe: no plugin has the name "TeamZoe"; did you mean "TeamZone"?',),
    ),
    "arguments of an in-tree plugin": Case(
        "simulate cluster.json --plugin-args NodeName=good.yaml",
        ("arguments for NodeName: give the arguments of an in-tree plugin in pluginConfig",),
    ),
    "arguments that are not there": Case(
        "simulate cluster.json --plugin team_zone.py:TeamZone --plugin-args TeamZone=gone.yaml",
        ("open gone.yaml: no such file or directory",),
    ),
    "an unknown argument": arguments("bonsu: 3\n", 'unknown field "bonsu"', 'bonsu: did you mean "bonus"?'),
    "an argument of a wrong type": arguments("bonus: many\n", "bonus: expected an integer", 'found "many"'),
    "an item of a wrong type": arguments("owners: {a: 5}\n", "owners.a: expected a string, found 5"),
    "arguments that are a list": arguments("- bonus\n", "plugin TeamZone: expected an object, found ["),
    "arguments in broken YAML": arguments("bonus: [\n", "yaml: line 1: did not find expected node content"),
    "an argument twice": arguments("bonus: 1\nbonus: 2\n", 'line 2: key "bonus" already set in map'),
    "arguments in another encoding": arguments(b"\xff\xfe\x00\xff", "not UTF-8 text: byte 0 is not part of a"),
}
