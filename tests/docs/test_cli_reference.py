"""The reference of the command line is what the commands say now."""

import re

import click
import pytest

from kubesched.cli import main
from tests.docs import cli_reference
from tests.docs.pages import ROOT, read_blocks

PAGE = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")


def test_the_page_is_current() -> None:
    """Otherwise, run the command in its first line."""
    assert cli_reference.page() == PAGE
    assert cli_reference.COMMAND in PAGE.splitlines()[0]


def sections() -> dict[str, str]:
    return {part.partition("\n")[0]: part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}


def all_commands(command: click.Group, words: str = "kubesched") -> dict[str, click.Command]:
    named = {}
    for name, child in command.commands.items():
        named[f"{words} {name}"] = child
        if isinstance(child, click.Group):
            named |= all_commands(child, f"{words} {name}")
    return named


def test_every_command_has_a_section_and_a_line_in_the_list() -> None:
    named = all_commands(main)
    assert list(sections()) == list(named)
    assert re.findall(r"^- \[`([a-z ]+)`\]", PAGE, re.MULTILINE) == list(named)


@pytest.mark.parametrize("name", all_commands(main))
def test_a_section_has_every_option_once(name: str) -> None:
    command = all_commands(main)[name]
    shown = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    rows = re.findall(r"^\| `(.*)` \|", sections()[name], re.MULTILINE)
    listed = [word.strip(",") for row in rows for word in re.split(r"[ /]+", row) if word.startswith("-")]
    general = {"--quiet", "--notes", "--debug"}
    assert sorted(listed) == sorted({opt for one in shown for opt in (*one.opts, *one.secondary_opts)} - general)


def test_examples_are_code_as_a_user_types_it() -> None:
    examples = [block.text for block in read_blocks(sections()["kubesched explain"])]
    assert any("kubesched explain cluster.json shop/web-7\n" in text for text in examples)


def test_exit_codes_are_listed() -> None:
    assert "- `--fail-on-pending`: Exit with 1 if a tried pod stays pending or" in sections()["kubesched simulate"]
    assert "exits with 1." in sections()["kubesched simulate"].partition("Exit codes:")[2]
    assert "Exits with 3" in sections()["kubesched config convert"].partition("Exit codes:")[2]
