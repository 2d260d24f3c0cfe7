"""Writes the reference of the command line from the commands: their descriptions, usage, options and exit codes.

python -m tests.docs.cli_reference > docs/reference/cli.md
"""

import re
import sys
from collections.abc import Iterable, Iterator
from inspect import cleandoc
from textwrap import fill, indent

import click

from kubesched.cli import main
from kubesched.cli.general_options import GENERAL

COMMAND = "python -m tests.docs.cli_reference > docs/reference/cli.md"
_WIDTH = 120
_AS_IT_IS = "\b\n"
"""How a help text marks lines that click does not wrap."""
_EXIT = re.compile(r"[^.]*\bexits? (?:also )?with \d[^.]*\.", re.IGNORECASE)
_PAGE = re.compile(r"docs/(\w+)/([\w-]+\.md)")
_HEAD = f"""\
<!-- This page is the output of: {COMMAND} -->

# The commands

This page has what `kubesched COMMAND --help` prints. As a plugin of kubectl, a command has the name
`kubectl sched COMMAND`: kubectl runs the file `kubectl-sched`, which is installed next to `kubesched`.

Every command has these options. `--quiet`, `--notes` and `--debug` can also be before the name of the command:
"""
_EXIT_CODES = """\
Every command has these exit codes:

| code | meaning |
|---|---|
| 0 | success |
| 1 | a check that you asked for failed, or a plugin failed in `simulate` |
| 2 | the input or the command line is not valid |
| 130 | interrupted |

`COLUMNS` sets the width of tables. `NO_COLOR` switches colours off. `LOG_LEVEL` can be `debug`, `info`, `warning` or
`error`.
"""


def page() -> str:
    """The whole page."""
    described = list(_commands(main, "kubesched"))
    listed = "\n".join(f"- [`{name}`](#{_anchor(name)}): {_short(context.command)}" for name, context in described)
    context = click.Context(main, **main.context_settings)
    names = main.context_settings["help_option_names"]  # click keeps the option of whoever asked first
    asks_for_help = click.Option(names, is_flag=True, help="Show this message and exit.")
    everywhere = _options(context, [*GENERAL, asks_for_help])
    sections = [_section(name, context) for name, context in described]
    return "\n".join([_HEAD, everywhere, _EXIT_CODES, listed, "", *sections]).rstrip() + "\n"


def _commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Context]]:
    for child in group.commands.values():
        context = click.Context(child, info_name=f"{name} {child.name}", max_content_width=_WIDTH)
        if not child.hidden:
            yield f"{name} {child.name}", context
        if isinstance(child, click.Group):
            yield from _commands(child, f"{name} {child.name}")


def _section(name: str, context: click.Context) -> str:
    command = context.command
    usage = f"{name} {' '.join(command.collect_usage_pieces(context))}"
    own = [param for param in command.params if isinstance(param, click.Option) and param not in GENERAL]
    first, *description = _description(command)
    parts = [f"## {name}\n", first, f"```text\n{usage}\n```\n", *description]
    if own:
        parts.append(_options(context, own))
    if codes := list(_exit_codes(command)):
        parts.append("Exit codes:\n\n" + "\n".join(f"- {sentence}" for sentence in codes) + "\n")
    return "\n".join(parts)


def _description(command: click.Command) -> Iterator[str]:
    for paragraph in cleandoc(command.help or "").split("\n\n"):
        if not paragraph.startswith(_AS_IT_IS):
            yield fill(_escaped(paragraph), _WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"
            continue
        heading, _, lines = paragraph.removeprefix(_AS_IT_IS).partition("\n")
        yield f"{heading}\n\n```text\n{cleandoc(indent(lines, ' '))}\n```\n"


def _options(context: click.Context, params: Iterable[click.Parameter]) -> str:
    rows = ["| option | meaning |", "|---|---|"]
    for param in params:
        record = param.get_help_record(context)
        if record is not None:
            names, text = (" ".join(part.split()) for part in record)
            rows.append(f"| `{names.replace('|', chr(92) + '|')}` | {_escaped(text).replace('|', chr(92) + '|')} |")
    return "\n".join(rows) + "\n"


def _exit_codes(command: click.Command) -> Iterator[str]:
    """What the description and the options say about them."""
    for sentence in _EXIT.findall(" ".join(cleandoc(command.help or "").split())):
        yield _escaped(sentence.strip())
    for param in command.params:
        if isinstance(param, click.Option) and (found := _EXIT.search(param.help or "")):
            yield f"`{param.opts[-1]}`: {_escaped(found[0].strip())}"


def _short(command: click.Command) -> str:
    return _escaped(command.get_short_help_str(limit=1000))


def _anchor(name: str) -> str:
    return name.replace(" ", "-")


def _escaped(text: str) -> str:
    """A text as Markdown, with links to the pages that it names; code stays as it is."""
    parts = text.split("`")
    parts[::2] = [_PAGE.sub(r"[\2](../\1/\2)", part.replace("<", "&lt;").replace("*", "\\*")) for part in parts[::2]]
    return "`".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
