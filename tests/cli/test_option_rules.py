"""The rules about options name options that there are, and are checked before anything is read."""

import click
import pytest

from kubesched.cli import main
from kubesched.cli.option_rules import RULES, AtMost, Excludes, NeedEachOther, Needs, NeedsOne, OptionCase, Rule
from kubesched.errors import InputError
from kubesched.planning import fit
from kubesched.testing import make_node
from tests.cli.clusters import run


def command_named(words: str) -> click.Command:
    command: click.Command = main
    for word in words.split():
        command = command.commands[word]
    return command


def options_of(rule: Rule) -> set[str]:
    """The options that a rule names."""
    match rule:
        case Excludes(option, others):
            terms = (option, *others)
        case Needs(options, needed):
            terms = (*options, *needed)
        case NeedEachOther(options) | NeedsOne(options):
            terms = options
        case AtMost() | OptionCase():
            terms = ()
    return {term.partition(" ")[0] for term in terms if isinstance(term, str)}


@pytest.mark.parametrize("command", RULES)
def test_the_rules_of_a_command_name_options_that_it_has(command: str) -> None:
    params = command_named(command).params
    options = {name for param in params for name in param.opts}
    assert set().union(*map(options_of, RULES[command])) <= options
    assert {rule.parameter for rule in RULES[command] if isinstance(rule, AtMost)} <= {param.name for param in params}


REFUSED = {
    "explain c.json --group a -l b=c": "--group and -l are mutually exclusive",
    "explain c.json web --context prod": "--context and SNAPSHOT are mutually exclusive: the cluster comes from one of",
    "explain c.json --group a web": "--group and POD are mutually exclusive",
    "snapshot c.json --anonymize --usage": "--anonymize and --keep or --usage are mutually exclusive",
    "fit c.json": "name the pods with -f FILE, or with --resource NAME=QUANTITY and --device CLASS=N; neither is given",
    "scheduler --shadow-dir x": "--shadow-dir needs --shadow",
    "scheduler manifests --image x --config a --scheduler-name b": "--scheduler-name and --config are mutually exclu",
    "extender --in-cluster --kubeconfig a": "--in-cluster and --kubeconfig are mutually exclusive",
    "extender --tls-private-key-file a": "--tls-cert-file and --tls-private-key-file need each other; give both",
    "compare c.json --config a --config b --config d": "--config is given 3 times; compare two configurations at",
    "config diff a b d": "expected one or two configurations, found 3",
    "extender --port 1 --health-port 1": "--health-port and --port are the same",
}


@pytest.mark.parametrize("line", REFUSED)
def test_a_command_line_is_refused_before_a_file_is_read(line: str) -> None:
    result = run(*line.split())
    assert result.exit_code == 2
    assert result.stderr.startswith(f"kubesched: error: {REFUSED[line]}")
    assert "  Try: kubesched " in result.stderr


def test_an_option_with_its_default_is_not_given() -> None:
    """So that a template may leave an option empty."""
    result = run("extender", "--in-cluster", "--context", "", "--kubeconfig", "", "--skip-plugin", "x")
    assert "mutually exclusive" not in result.stderr


def test_a_seed_of_0_is_given() -> None:
    assert "no.json: no such file" in run("simulate", "no.json", "--tie-break", "random", "--seed", "0").stderr


def test_a_pod_among_the_arguments_is_not_a_snapshot() -> None:
    assert "SNAPSHOT" not in run("explain", "web", "--kubeconfig", "no.config").stderr


IN_PYTHON = {
    "--max": {"maximum": True},
    "--replicas": {"replicas": 2},
    "--rollout": {"rollout": True},
    "--add": {"add": True},
    "--write": {"keeps_objects": True},
    "--alone": {"alone": True},
    "a search": {"nodes_like": "n1"},
}
"""What `kubesched.planning.fit` is called with for an option of the command."""
OF_THE_COMMAND = {
    "--shapes",
    "--shapes without -f",
    "--only",
    "--resource",
    "--device",
    "--extenders call",
    "--kubeconfig",
    "--context",
    "SNAPSHOT",
}
"""Options that Python has no argument for, or that mean different things there."""
EXCLUDED = [
    (str(rule.option), str(other))
    for rule in RULES["fit"]
    if isinstance(rule, Excludes)
    for other in rule.others
    if OF_THE_COMMAND.isdisjoint((str(rule.option), str(other)))
]


@pytest.mark.parametrize(("option", "other"), EXCLUDED, ids=" and ".join)
def test_what_fit_excludes_on_a_command_line_it_excludes_in_python(option: str, other: str) -> None:
    with pytest.raises(InputError, match="mutually exclusive"):
        fit([make_node("n1")], {"cpu": "1"}, **IN_PYTHON[option], **IN_PYTHON[other])
