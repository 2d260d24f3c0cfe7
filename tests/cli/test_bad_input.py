"""Whatever is fed to a command: one message that says where, what was found and what is allowed; no stack trace."""

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kubesched.cli import main
from tests.cli.bad_inputs.case import GOOD_FILES
from tests.cli.bad_inputs.configurations import CHECKED, SHOWN, UNREADABLE, USED
from tests.cli.bad_inputs.extender import REPLAYED, SERVED
from tests.cli.bad_inputs.manifests import MANIFESTS
from tests.cli.bad_inputs.plugins import ARGUMENTS, PLUGINS
from tests.cli.bad_inputs.snapshots import FILES, OBJECTS
from tests.cli.bad_inputs.usage import USAGE

MAX_LINES = 6
MAX_CHARACTERS = 1000

TABLES = {
    "file": FILES,
    "object": OBJECTS,
    "manifest": MANIFESTS,
    "plugin": PLUGINS,
    "arguments": ARGUMENTS,
    "unreadable": UNREADABLE,
    "checked": CHECKED,
    "shown": SHOWN,
    "used": USED,
    "usage": USAGE,
    "served": SERVED,
    "replayed": REPLAYED,
}
CASES = {f"{table}: {name}": case for table, cases in TABLES.items() for name, case in cases.items()}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a folder that holds what is good."""
    monkeypatch.chdir(tmp_path)
    write(GOOD_FILES)


def write(files: dict[str, str] | dict[str, bytes | str]) -> None:
    for name, content in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def run(arguments: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(main, shlex.split(arguments), input=stdin, prog_name="kubesched")


def check_is_told(result: Result) -> None:
    """The command ended by itself, and no more than a screenful was said."""
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    assert " at 0x" not in result.output


def check_message(message: str) -> None:
    first, *help_lines = message.rstrip("\n").split("\n")
    assert first.strip()
    assert len(help_lines) < MAX_LINES
    assert len(message) <= MAX_CHARACTERS
    assert "None" not in message


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_told_in_one_message_with_its_place(name: str) -> None:
    case = CASES[name]
    write(case.files)
    result = run(case.arguments, case.stdin)
    check_is_told(result)
    assert result.exit_code == case.code, result.output
    # config check goes on with its findings, one paragraph each; the first paragraph is kube-scheduler's message.
    message = result.stderr if case.code == 2 else result.stdout.partition("\n\n")[0]
    check_message(message)
    assert [word for word in case.words if word not in message] == [], message
    if case.code == 2:
        assert message.startswith("kubesched: error: ")
        assert message.count("kubesched: ") <= 2  # the prefix, and the name in a hint
        assert result.stdout == ""


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 200
    assert {case.arguments.split()[0] for case in CASES.values()} >= {
        "simulate",
        "explain",
        "extender",
        "config",
        "plugin",
    }


@pytest.mark.parametrize(
    "arguments",
    [
        "simulate cluster.json --config good.yaml --plugin team_zone.py:TeamZone",
        "explain cluster.json --pod shop/web-1",
        "explain cluster.json --all -o jsonl",
        "config check good.yaml",
        "config show good.yaml",
        "plugin list --plugin team_zone.py:TeamZone",
    ],
)
def test_what_the_cases_break_is_good_unbroken(arguments: str) -> None:
    result = run(arguments)
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("arguments", ["", "config"])
def test_a_group_without_a_command_gives_its_help(arguments: str) -> None:
    result = run(arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("Usage: kubesched")


def test_bad_objects_are_left_out_on_request() -> None:
    cases = [case for case in OBJECTS.values() if case.files.get("a.json")]
    assert cases
    for case in cases:
        write(case.files)
        result = run("simulate a.json --skip-bad-objects -o json")
        check_is_told(result)
        assert result.exit_code == 0, case
        assert "kubesched: note: left out: a.json" in result.stderr
