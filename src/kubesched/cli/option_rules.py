"""Which options exclude and need each other: one table for all commands, checked before a command runs.

What an option's own value has to be is checked where the option is parsed, and what depends on the input of a command
where that is read.
"""

from collections.abc import Callable, Mapping
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from click.core import ParameterSource

from kubesched.cli.general_options import GENERAL
from kubesched.cli.standard_streams import STANDARD_STREAM, standard_output
from kubesched.cli.targets import split_targets
from kubesched.cli.written_files import is_same_file


class OptionCase(NamedTuple):
    """More than one option that is given; alone in the table, what a command does not take.

    Attributes:
        text: how a sentence names it; or the sentence.
        holds: whether it is so, by the values of the parameters.
    """

    text: str
    holds: Callable[[Mapping[str, Any]], bool]

    def __str__(self) -> str:
        return self.text


Term = str | OptionCase
"""An option: `--max`, with any value `--seed N`, with this one `--extenders call`; not given with its default."""


class Excludes(NamedTuple):
    """An option that does not go with others; `why` ends the sentence."""

    option: Term
    others: tuple[Term, ...]
    why: str = ""


class Needs(NamedTuple):
    """Options, each of which needs all of some others; `why` ends the sentence."""

    options: tuple[Term, ...]
    needed: tuple[Term, ...]
    why: str = ""


class NeedEachOther(NamedTuple):
    """Options that are given together, or not at all; `why` ends the sentence."""

    options: tuple[Term, ...]
    why: str = ""


class NeedsOne(NamedTuple):
    """A command that needs one of some options, or `only` one; `advice` is the sentence."""

    options: tuple[Term, ...]
    advice: str
    only: bool = False


class AtMost(NamedTuple):
    """A parameter that has at most some values; `sentence` has `{}` for their number."""

    parameter: str
    most: int
    sentence: str


Rule = Excludes | Needs | NeedEachOther | NeedsOne | AtMost | OptionCase


def _fault_of(rule: Rule, context: click.Context) -> str:
    """What is wrong with a command line; empty if nothing is."""
    is_given = partial(_is_given, context)
    match rule:
        case Excludes(option, others, why) if is_given(option) and (given := [*filter(is_given, others)]):
            return f"{option} and {given[0]} are mutually exclusive{why}"
        case Needs(options, needed, why) if any(map(is_given, options)) and not all(map(is_given, needed)):
            return f"{_all_of(options)} {'needs' if len(options) == 1 else 'need'} {_all_of(needed)}{why}"
        case NeedEachOther(options, why) if len(set(map(is_given, options))) > 1:
            return f"{_all_of(options)} need each other{why}"
        case NeedsOne(options, advice, False) if not any(map(is_given, options)):
            return advice
        case NeedsOne(options, advice, True) if (n_given := sum(map(is_given, options))) != 1:
            return f"{advice}; {'both are given' if n_given else 'neither is given'}"
        case AtMost(parameter, most, sentence) if (n_given := len(context.params[parameter])) > most:
            return sentence.format(n_given)
        case OptionCase(text, _) if is_given(rule):
            return text
    return ""


def _all_of(terms: tuple[Term, ...]) -> str:
    return " and ".join(map(str, terms))


def _has_names(params: Mapping[str, Any]) -> bool:
    return bool(split_targets(params["snapshots"]).names)


def _searches_nodes(params: Mapping[str, Any]) -> bool:
    return bool(params["nodes_like"].model) and params["nodes_like"].number is None


def _has_traces(params: Mapping[str, Any]) -> bool:
    from kubesched.traces import is_trace

    return any(map(is_trace, params["snapshots"]))


def _writes_one_file(params: Mapping[str, Any]) -> bool:
    table, output = params["table"], params["output"]
    return table is not None and output != STANDARD_STREAM and is_same_file(table, Path(output))


def _one_source(has_snapshots: Callable[[Mapping[str, Any]], bool]) -> tuple[Rule, ...]:
    other, why = (OptionCase("SNAPSHOT", has_snapshots),), ": the cluster comes from one of them"
    return Excludes("--kubeconfig", other, why), Excludes("--context", other, why)


BARE_WITHOUT_NODES: Final = "-l"
"""What --without-nodes has without a NODE."""
_NODE: Final = OptionCase("NODE", _has_names)
_RUNBOOK: Final = OptionCase("-o runbook", lambda params: params["output"] == "runbook")
_PATCH: Final = OptionCase("-o patch", lambda params: params["output"] == "patch")
_POD: Final = OptionCase("POD", _has_names)
_ONE_POD: Final = OptionCase("one pod", lambda params: _has_names(params) or params["pod"] is not None)
_BARE: Final = OptionCase("--without-nodes", lambda params: BARE_WITHOUT_NODES in params["removed"])
_SEARCH: Final = OptionCase("a search", lambda params: params["maximum"] or _searches_nodes(params))
_REQUESTS: Final = OptionCase("--resource", lambda params: bool(params["resources"] or params["devices"]))
_FILES: Final = OptionCase(
    "-f", lambda params: bool(params["filenames"] or (params["shapes"] is not None and not _REQUESTS.holds(params)))
)
_SHAPES_ALONE: Final = OptionCase(
    "--shapes without -f",
    lambda params: params["shapes"] is not None and not (params["filenames"] or _REQUESTS.holds(params)),
)
_NUMBER: Final = OptionCase("the number of new nodes", lambda params: not _searches_nodes(params))
_SECOND_CONFIG: Final = OptionCase("a second --config", lambda params: len(params["configs"]) > 1)
_TRACES: Final = OptionCase("TRACE", lambda params: bool(params["traces"]))
_TRACE: Final = OptionCase("a trace", _has_traces)
_KEPT: Final = OptionCase("--keep or --usage", lambda params: bool(params["keep"] or params["usage"]))
_ONE_PORT: Final = OptionCase(
    "--health-port and --port are the same; use a different port for health checks",
    lambda params: bool(params["health_port"]) and params["health_port"] == params["port"],
)
_TO_TERMINAL: Final = OptionCase(
    "standard output is a terminal; name a file, such as -o cluster.json.gz",
    lambda params: params["output"] == STANDARD_STREAM and standard_output().isatty(),
)
_ONE_FILE: Final = OptionCase("--table and -o name the same file; the table has to stay private", _writes_one_file)
_ONE_SOURCE: Final = _one_source(lambda params: bool(params["snapshots"]))
_ONE_SOURCE_BESIDE_NAMES: Final = _one_source(lambda params: bool(split_targets(params["snapshots"]).snapshots))
_BOTH_FROM_INPUT: Final = OptionCase(
    "A and B cannot both be standard input; give one of them as a file",
    lambda params: list(map(str, params["files"])) == [STANDARD_STREAM] * 2,
)
_TIES: Final = Needs(("--tie-break random",), ("--seed N",), ", so that the run can be repeated")
_WHAT_IF: Final = (
    NeedEachOther(("--add-nodes", "--like"), ": --add-nodes 3 --like worker-1"),
    NeedEachOther(("-l", _BARE), ": --without-nodes -l pool=spot"),
)
_TLS: Final = NeedEachOther(("--tls-cert-file", "--tls-private-key-file"), "; give both")

RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    "simulate": (
        Excludes("--extenders call", ("--no-preemption-effects",)),
        Excludes("--write", ("--no-preemption-effects",), ": the cluster afterwards is without the evicted pods"),
        *_WHAT_IF,
        _TIES,
        *_ONE_SOURCE,
    ),
    "explain": (
        Excludes("--all", ("--pod", "-l", _POD)),
        Excludes("--group", (_POD, "--pod", "--all", "-l")),
        Excludes("-n", ("-A",)),
        Needs(("--node", "--all-nodes"), (_ONE_POD,), ": name it, such as shop/web-7"),
        *_ONE_SOURCE_BESIDE_NAMES,
    ),
    "fit": (
        NeedsOne(
            (_FILES, _REQUESTS),
            "name the pods with -f FILE, or with --resource NAME=QUANTITY and --device CLASS=N",
            only=True,
        ),
        Excludes("--only", ("--resource", "--device"), ": --only is one of the workloads of -f"),
        Excludes("-n", ("--resource", "--device"), ": -n is the namespace of the manifests of -f"),
        Excludes("--max", ("--replicas",), ": --max asks for the number"),
        Needs(("--max",), (_NUMBER,), ": --nodes-like NODE=N"),
        Excludes("--rollout", ("--add",), ": the old pods are replaced, or they stay"),
        Excludes("--rollout", (_SEARCH,), ": use --replicas N and --nodes-like NODE=N"),
        Excludes("--rollout", ("--extenders call",)),
        Excludes("--shapes", ("--max", "--nodes-like", "--rollout", "--alone", "--write", "--extenders call")),
        Excludes(
            _SHAPES_ALONE, ("--only", "-n", "--replicas", "--add"), ": it is about the pending pods of the cluster"
        ),
        Excludes("--shapes", (_PATCH,), ": a shape is added by its autoscaler, and nothing is patched"),
        Needs(("--prices",), ("--shapes",)),
        Excludes("--write", (_SEARCH,), ": use --replicas N and --nodes-like NODE=N"),
        Excludes("--write", ("--alone",), ": the pods that are pending belong to the cluster"),
        *_WHAT_IF,
        *_ONE_SOURCE,
    ),
    "drain": (
        Excludes("--each", ("--each-zone", "--most")),
        Excludes("--each-zone", ("--most", "--zone", _NODE)),
        Excludes("--each-zone", ("--write", _RUNBOOK), ": --each-zone tries many drains"),
        Excludes("--each", ("--write",), ": --each tries many drains"),
        Excludes("--each", (_RUNBOOK,), ": --each drains each node alone; use --most, or name the nodes"),
        Needs(("--on",), ("--each",), ": the other drains depend on each other"),
        Excludes(_NODE, ("-l", "--zone")),
        NeedsOne(
            (_NODE, "-l", "--zone", "--each", "--each-zone", "--most"),
            "name the nodes, or use -l LABELS, --zone ZONE, --each, --each-zone or --most",
        ),
        _TIES,
        *_ONE_SOURCE_BESIDE_NAMES,
    ),
    "check": (Excludes("-n", ("-A",)), *_ONE_SOURCE),
    "compare": (
        AtMost("configs", 2, "--config is given {} times; compare two configurations at a time"),
        AtMost("versions", 2, "--kubernetes-version is given {} times; compare two versions at a time"),
        Excludes("--pack", (_SECOND_CONFIG,)),
        Excludes("--pods", (_TRACE,), ": every pod of a trace is placed"),
        Excludes(_TRACE, ("--prices", "--fail-on", "--manifest"), ": they are about a snapshot"),
        Excludes(_TRACE, ("--on",), ": a trace is replayed in one process"),
        Excludes("--kubernetes-version", (_SECOND_CONFIG, "--plugin", "--pack"), ": one thing is compared at a time"),
        NeedsOne(
            ("--config", "--plugin", "--pack", "--kubernetes-version"),
            "there is nothing to compare; give --config twice, or --config, --plugin, --pack or --kubernetes-version",
        ),
        *_ONE_SOURCE,
    ),
    "replay": (
        NeedsOne((_TRACES, "--record"), "name a TRACE, or record one with --record FILE", only=True),
        Excludes("--record", ("--nodes", "--every", "--gpu-shares"), ": --record writes a trace and replays nothing"),
        Needs(("--for",), ("--record",)),
        Needs(("--anonymize",), ("--record",)),
        Needs(("--kubeconfig",), ("--record",), ": a trace is replayed on the nodes of files"),
        Needs(("--context",), ("--record",), ": a trace is replayed on the nodes of files"),
        _TIES,
    ),
    "snapshot": (
        Excludes("--anonymize", (_KEPT,), ": the names in such objects cannot be replaced"),
        Excludes("--anonymize", ("--keep-annotations",), ": an annotation is free text that may have names"),
        Needs(("--salt",), ("--anonymize",)),
        Needs(("--table",), ("--anonymize",)),
        _TO_TERMINAL,
        _ONE_FILE,
        *_ONE_SOURCE,
    ),
    "extender": (
        _ONE_PORT,
        Needs(("--client-cn",), ("--client-ca-file",), ", the authority that signs the names"),
        Excludes("--in-cluster", ("--kubeconfig",)),
        Excludes("--in-cluster", ("--context",), ": a context belongs to a kubeconfig"),
        _TLS,
        Needs(("--client-ca-file",), ("--tls-cert-file", "--tls-private-key-file")),
    ),
    "config diff": (AtMost("files", 2, "expected one or two configurations, found {}"), _BOTH_FROM_INPUT),
    "scheduler": (Excludes("--dry-run", ("--shadow",)), Needs(("--shadow-dir",), ("--shadow",)), _TLS),
    "scheduler manifests": (Excludes("--scheduler-name", ("--config",), ": the profiles have the names"),),
}
"""The rules of a command, in the order in which they are checked."""


def with_checked_usage(callback: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a command, which does not run where a rule refuses the command line, or before a subcommand."""

    def call(*arguments: Any, **options: Any) -> Any:
        context = click.get_current_context()
        if (subcommand := context.invoked_subcommand) is not None:
            _refuse_options_before(context, subcommand)
            return None
        for rule in RULES.get(_command(context), ()):
            if fault := _fault_of(rule, context):
                raise click.UsageError(fault)
        return callback(*arguments, **options)

    return update_wrapper(call, callback)


def _command(context: click.Context) -> str:
    """Such as `scheduler manifests`."""
    above = context.parent
    return "" if above is None else f"{_command(above)} {context.command.name}".lstrip()


def _is_given(context: click.Context, term: Term) -> bool:
    """Whether a command line has an option with another value than its default."""
    if isinstance(term, OptionCase):
        return term.holds(context.params)
    option, _, value = term.partition(" ")
    param = next(param for param in context.command.params if option in param.opts)
    given = context.params[param.name or ""]
    if value and not value.isupper():
        return bool(given == value)
    return context.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE and given != param.default


def _refuse_options_before(context: click.Context, subcommand: str) -> None:
    """Options of a command are not those of its subcommand, which come after its name."""
    for param in context.command.params:
        if param not in GENERAL and context.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{param.opts[0]} is before {subcommand}; write options of {subcommand} after it")
