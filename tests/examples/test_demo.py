"""`make demo` shows what kubesched is for: it ends on the fix for a pod that stays pending."""

import shlex

from tests.architecture.sources import ROOT
from tests.cli.clusters import run

RECIPE = (ROOT / "Makefile").read_text().partition("\ndemo:")[2].partition("\n\n")[0].splitlines()[1:]


def test_the_demo_ends_on_one_command_that_mends_the_pod(monkeypatch):
    monkeypatch.chdir(ROOT)
    last = shlex.split(RECIPE[-1].replace("$(SHOP)", "examples/shop"))
    result = run(*last[1:])
    assert (last[0], result.exit_code) == ("$(BIN)/kubesched", 0)
    *_, pod, fix, _, command = [line for line in result.stdout.splitlines() if line]
    assert "correct the node selector shop.example.com/pool=genral" in f"{pod} {fix}"
    assert command.startswith("kubectl patch deployment preview-1439 -n dev ")
