import re
import subprocess
import sys

import pytest

from kubesched.api import KINDS
from kubesched.cli import main, program_version
from kubesched.errors import InputError
from kubesched.release import KNOWN
from kubesched.version import VERSION
from tests.architecture.sources import ROOT
from tests.cli.clusters import run
from tests.kinds import SERVED_KINDS


def test_every_command_stands_in_the_help_in_its_order():
    text = run("--help").stdout
    places = [text.index(f"\n  {name} ") for name in ("simulate", "explain", "extender", "config", "plugin")]
    assert places == sorted(places)


@pytest.mark.parametrize("name", main.commands)
def test_every_command_has_help_with_one_line_for_the_list(name: str):
    assert run(name, "--help").exit_code == 0
    assert main.commands[name].get_short_help_str(limit=200).endswith(".")


SHORT = {"ns": "namespaces", "svc": "services", "rc": "replicationcontrollers", "rs": "replicasets"}
SHORT |= {"sts": "statefulsets", "pdb": "poddisruptionbudgets", "pc": "priorityclasses", "sc": "storageclasses"}
SHORT |= {"limits": "limitranges", "quota": "resourcequotas", "hpa": "horizontalpodautoscalers"}
SHORT |= {"deploy": "deployments", "pv": "persistentvolumes", "pvc": "persistentvolumeclaims"}


@pytest.mark.parametrize("place", ["help", "docs/guides/save-a-snapshot.md"])
def test_the_kubectl_line_fetches_every_kind_that_a_scheduler_reads(place: str):
    text = run("--help").stdout if place == "help" else (ROOT / place).read_text()
    (named,) = re.findall(r"kubectl get -A -o json > cluster.json \\\n +(\S+)\n", text)
    fetched = sorted(SHORT.get(name, name) for name in named.split(","))
    assert fetched == sorted(KINDS[kind].plural for kind in SERVED_KINDS)


def test_a_name_that_is_no_command_is_a_key_error():
    with pytest.raises(KeyError):
        main.commands["frobnicate"]


def test_the_version_is_that_of_the_package():
    first, second = run("--version").stdout.splitlines()
    assert re.fullmatch(rf"kubesched {VERSION}(, commit [0-9a-f]+(-dirty)?)?, Python 3\.\d+\.\S+, NumPy \d\S+", first)
    assert second == f"Decides like kube-scheduler {KNOWN}."


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["simulate", "x", "--context", "prod"], "--context and SNAPSHOT are mutually exclusive"),
        (["simulate", "x", "--nonsense"], "No such option"),
        (["simulate", "x", "-o", "xml"], "'xml' is not one of"),
    ],
)
def test_a_wrong_call_is_one_message_and_a_way_to_the_help(arguments: list[str], words: str):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("kubesched: error: ")
    assert words in result.stderr
    assert result.stderr.splitlines()[-1].startswith("  Try: kubesched")
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["help"], "No such command 'help'; write `kubesched --help`"),
        (["help", "config", "check"], "write `kubesched config check --help`"),
        (["version"], "write `kubesched --version`"),
        (["why", "web-1"], "write `kubesched explain`"),
        (["get", "pods"], "kubesched: error: No such command 'get'.\n"),
        (["explian"], "No such command 'explian'; did you mean \"explain\"?\n"),
    ],
)
def test_the_word_of_another_program_is_answered_with_the_command(arguments: list[str], words: str):
    result = run(*arguments)
    assert (result.exit_code, words in result.stderr) == (2, True)


def test_a_file_that_is_not_there_is_one_message():
    result = run("simulate", "missing.json")
    assert (result.exit_code, result.stderr) == (2, "kubesched: error: missing.json: no such file or folder\n")


def test_an_interrupt_ends_quietly_with_130(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("kubesched.cli.simulate.read_both", interrupted)
    result = run("simulate", "x")
    assert (result.exit_code, result.stderr.strip()) == (130, "")


@pytest.mark.parametrize("arguments", [["--help"], ["completion", "fish"], ["simulate", "--help"]], ids=" ".join)
def test_help_and_completion_load_no_large_library(arguments: list[str]):
    """They answer while a user types."""
    heavy = {
        "numpy",
        "msgspec",
        "rich",
        "aiohttp",
        "yaml",
        "cryptography",
        "joblib",
        "kubesched.framework",
        "kubesched.api",
    }
    program = f"""
import sys
from kubesched.cli import main, program_version
try:
    main({arguments!r})
finally:
    print(*sorted({heavy!r} & set(sys.modules)), file=sys.stderr)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stderr.split() == []


def test_a_program_that_calls_the_commands_itself_gets_the_exception():
    with pytest.raises(InputError):
        main(["simulate", "missing.json"], standalone_mode=False)


def test_a_package_names_the_commit_of_its_build(tmp_path, monkeypatch):
    monkeypatch.setattr(program_version, "_PACKAGE", tmp_path)
    monkeypatch.setattr(program_version, "_CLONE", tmp_path)
    assert "commit" not in program_version.program_version()
    (tmp_path / "commit.txt").write_text("8356b044bc74\n")
    assert ", commit 8356b044bc74, Python" in program_version.program_version()
