"""A run of commands over broken inputs: each ends by itself, with a code it knows, and one sentence if it refuses."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from click.testing import CliRunner, Result

from campaigns.inputs.broken import KINDS
from kubesched.cli import main

MAX_MESSAGE = 3000
REFUSED = "kubesched: error: "


class Account(NamedTuple):
    """What came of some inputs of a kind.

    Attributes:
        codes: the exit code of each command.
        harm: what must not happen, with the number of the input and the command.
    """

    codes: list[int]
    harm: list[str]


def run(kind: str, seed: int, numbers: range, folder: Path) -> Account:
    """Run the commands of a kind over inputs with these numbers; `folder` keeps those that did harm."""
    account = Account([], [])
    for number in numbers:
        data = KINDS[kind].make(Random(f"{kind} {seed} {number}"))
        file = folder / f"{kind.replace(' ', '-')}-{seed}-{number}{KINDS[kind].suffix}"
        file.write_bytes(data)
        faults = [f"{file.name}: {fault}" for fault in KINDS[kind].faults(data.decode(errors="replace"))]
        for command in KINDS[kind].commands:
            result = CliRunner().invoke(main, [*command, str(file)], prog_name="kubesched")
            account.codes.append(result.exit_code)
            faults += [f"{file.name}: {' '.join(command)}: {fault}" for fault in faults_of(result)]
        account.harm.extend(faults)
        if not faults:
            file.unlink()
    return account


def faults_of(result: Result) -> Iterator[str]:
    """What is wrong with the way in which a command ended."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        yield repr(result.exception)
    elif "Traceback" in result.output:
        yield "a stack trace"
    elif result.exit_code not in (0, 1, 2):
        yield f"exit code {result.exit_code}"
    elif result.exit_code == 2:
        _, told, message = result.stderr.rpartition(REFUSED)
        if not told or not message.strip():
            yield "exit code 2 without a message"
        elif len(message) >= MAX_MESSAGE:
            yield f"a message of {len(message)} characters"
