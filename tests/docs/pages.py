"""Code blocks of the documentation: found, run and compared.

A section of a page, from one "## " to the next, is read from top to bottom. Its blocks share one folder, a copy of what
a reader has after cloning, with the files and the Python of the sections before it. What a command makes is there until
the end of its section. The word after the fence says what happens to a block:

    ```bash             runs, and has to end with exit code 0
    ```console          each "$ command" runs; the lines below it are its output, where a line "..." stands for any
                        lines and "..." within a line for any text, two blanks or "──" and more for as many as it
                        likes (a page shows tables narrower); "exit=2" beside the language names the exit code
    ```python           runs; the python blocks of a page are one program
    ```yaml, json, toml are parsed
    ```text             is left alone, as are mermaid and diff

"file=NAME" beside the language writes the block to that file instead. "needs=THING" leaves it out; THING is one of
NEEDS, what a test cannot have.
"""

import json
import os
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
NEEDS = {"cluster", "network", "go", "hours", "environment"}
COPIED = ("examples", "pyproject.toml", "constraints.txt", "Makefile")
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>```+)(?P<info>[^`]*)$")


@dataclass(frozen=True)
class Block:
    """One fenced block and where it starts."""

    language: str
    options: dict[str, str]
    text: str
    line: int


def pages() -> list[Path]:
    """Every page whose blocks have to work."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    found += [p for folder in ("docs", "examples") for p in sorted((ROOT / folder).rglob("*.md"))]
    return found


def read_blocks(text: str) -> list[Block]:
    """The fenced blocks of a page in order."""
    blocks, opened, body = [], None, []
    for line, content in enumerate(text.splitlines(), 1):
        fence = FENCE.match(content)
        if opened is None and fence:
            opened, body = (fence, line), []
        elif opened and content.strip() == opened[0]["ticks"]:
            indent = len(opened[0]["indent"])
            words = opened[0]["info"].split()
            options = dict(word.partition("=")[::2] for word in words[1:])
            lines = "".join(f"{row[indent:]}\n" for row in body)
            blocks.append(Block(words[0] if words else "", options, lines, opened[1]))
            opened = None
        elif opened:
            body.append(content)
    if opened:
        raise ValueError(f"line {opened[1]}: the block is never closed")
    return blocks


@dataclass(frozen=True)
class Section:
    """The blocks below a heading of a page, and those before it."""

    heading: str
    blocks: list[Block]
    before: list[Block]


def read_sections(text: str) -> list[Section]:
    """The sections of a page that have blocks."""
    blocks = read_blocks(text)
    in_blocks = {line for block in blocks for line in range(block.line, block.line + block.text.count("\n") + 1)}
    headings = [(line, row[3:]) for line, row in enumerate(text.splitlines(), 1) if row.startswith("## ")]
    starts = [(0, "top"), *((line, heading) for line, heading in headings if line not in in_blocks)]
    ends = [line for line, _ in starts[1:]] + [len(text)]
    sections = [
        Section(heading, [b for b in blocks if start < b.line < end], [b for b in blocks if b.line < start])
        for (start, heading), end in zip(starts, ends, strict=True)
    ]
    return [section for section in sections if section.blocks]


class Reader:
    """Follows a page in a folder of its own, with the programs `kubesched` and `python` of another folder."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder / "kubesched"
        self.folder.mkdir()
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, self.folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, self.folder / name)
        self.program = ""
        self.programs = programs

    def follow(self, block: Block) -> None:
        """Do what the page says.

        Raises:
            AssertionError: the block does not work, or prints something else.
        """
        if "needs" in block.options:
            assert block.options["needs"] in NEEDS, f"needs={block.options['needs']}; known: {sorted(NEEDS)}"
        elif "file" in block.options:
            self._write(block)
        else:
            self._run(block)

    def take_over(self, block: Block) -> None:
        """Have the file or the Python of a block of an earlier section."""
        if "needs" in block.options:
            return
        if "file" in block.options:
            self._write(block)
        elif block.language == "python":
            self.program += block.text

    def _write(self, block: Block) -> None:
        path = self.folder / block.options["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def _run(self, block: Block) -> None:
        match block.language:
            case "bash" | "sh":
                self._check(block.text, None, 0)
            case "console":
                for command, expected in read_session(block.text):
                    self._check(command, expected, int(block.options.get("exit", 0)))
            case "python":
                # Earlier blocks run again, so that a page is one program and each block is reported where it stands.
                self.program += block.text
                (self.folder / "page.py").write_text(self.program, encoding="utf-8")
                self._check("python page.py", None, 0)
            case "yaml":
                assert list(yaml.safe_load_all(block.text))
            case "json":
                json.loads(block.text)
            case "toml":
                tomllib.loads(block.text)
            case "text" | "mermaid" | "diff":
                pass
            case other:
                raise AssertionError(f"a block needs a language that says what happens to it; found {other!r}")

    def _check(self, command: str, expected: list[str] | None, exit_code: int) -> None:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=110,
        )
        assert done.returncode == exit_code, f"{command}\nexit code {done.returncode}\n{done.stdout}"
        if expected is not None:
            printed = [line.rstrip() for line in done.stdout.splitlines()]
            assert is_shown(expected, printed), f"{command}\nthe page shows other output than\n{done.stdout}"

    def _environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("COV_", "PYTEST_", "MAKE"))}
        return kept | {
            "COLUMNS": "120",
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
            "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "TERM": "dumb",
        }


def read_session(text: str) -> list[tuple[str, list[str]]]:
    """Split a console block into commands and the output below each."""
    session: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            session.append((line[2:], []))
        elif not session:
            raise ValueError('a console block begins with "$ command"')
        elif line.startswith("> ") and not session[-1][1]:
            session[-1] = (f"{session[-1][0]}\n{line[2:]}", [])
        else:
            session[-1][1].append(line.rstrip())
    return session


def is_shown(expected: list[str], printed: list[str]) -> bool:
    """Whether the output fits what the page shows of it."""
    pattern = ""
    for row in map(_narrow, expected):
        pattern += r"(?:[^\n]*\n)*?" if row == "..." else r"[^\n]*?".join(map(re.escape, row.split("..."))) + r"\n"
    return re.fullmatch(pattern, "".join(f"{_narrow(line)}\n" for line in printed)) is not None


def _narrow(line: str) -> str:
    """The line of a table whatever its width."""
    return re.sub(r"(?<=\S) {2,}|─{2,}", lambda wide: wide[0][:2], line)
