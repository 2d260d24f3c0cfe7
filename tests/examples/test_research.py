"""The research plugins: their tests, their sample, and forks, which take back what they hold."""

import runpy
import subprocess
from pathlib import Path

import pytest

from kubesched.session import Session
from kubesched.testing import make_node, make_pod
from kubesched.traces import GPU_SHARE
from tests.forks import Forks

RESEARCH = Path(__file__).parents[2] / "examples" / "research"


@pytest.mark.timeout(600)  # seconds where nothing else runs
@pytest.mark.parametrize("name", sorted(path.name for path in RESEARCH.glob("test_*.py")))
def test_the_tests_of_the_folder_pass(name: str, forks: Forks):
    command = [forks.bin / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", name]
    done = subprocess.run(command, cwd=RESEARCH, capture_output=True, text=True, check=False, timeout=590)
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_sample_is_what_its_program_writes():
    files = runpy.run_path(str(RESEARCH / "make_sample.py"))["files"]()
    assert {path.name: path.read_text(encoding="utf-8") for path in (RESEARCH / "sample").iterdir()} == files


def test_a_fork_takes_back_the_gpus_that_pods_got(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(RESEARCH)
    nodes = [make_node("n1", allocatable={GPU_SHARE: 2000})]

    def places(session: Session, *shares: int) -> list[str]:
        session.change([make_pod(f"p{i}", requests={GPU_SHARE: share}) for i, share in enumerate(shares)])
        return [placement.node for placement in session.schedule().placements]

    with Session(nodes, plugins=["policies:BestFit"]) as session:
        for _ in range(2):
            with session.fork():
                assert places(session, 700, 700, 400) == ["n1", "n1", ""]
        assert places(session, 400, 600, 700) == ["n1", "n1", "n1"], "GPU 0 is full, GPU 1 has 300 left"
