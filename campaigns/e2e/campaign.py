"""Run Kubernetes' own tests of scheduling, with kube-scheduler and then with kubesched as the only scheduler.

    python -m campaigns.e2e.campaign [--focus REGEX] [--schedulers kubesched] [--out DIR]

Builds the tests and a control plane, and starts etcd, kube-apiserver, kube-controller-manager and four nodes. No
container runs on the nodes (campaigns/e2e/fake_kubelet.py). Each scheduler gets its own cluster and takes half an hour.
--out keeps the logs and the results of every scheduler; those of a scheduler that is left out are read from there. A
run of all tests adds its table to docs/evidence/e2e.md. The exit code is 1 if kubesched fails a test that
kube-scheduler passes.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from campaigns.e2e.cluster import NODES, Cluster
from campaigns.e2e.report import Result, lost_tests, read_results, table, with_entry
from tests.integration.build import GoProgram, find_binary
from tests.integration.live_process import LiveProcess
from tests.integration.processes import Process
from tests.integration.scheduler_process import SchedulerProcess

SUITE = GoProgram(
    "e2e.test",
    "end-to-end tests of Kubernetes",
    Path(__file__).parent / "suite",
    ("go.mod", "go.sum", "e2e_test.go"),
    ("test", "-c"),
    "KUBESCHED_E2E",
)
SCHEDULERS = {"kube-scheduler": SchedulerProcess, "kubesched": LiveProcess}
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "e2e.md"
GROUP = r"\[sig-scheduling\] "
SKIP = "Feature:OffByDefault"
SEED = 1  # the order of the tests, which is the same for all schedulers
LONGEST_MINUTES = 60


def run(scheduler: str, focus: str, out: Path) -> None:
    """Run the tests with one scheduler; `out` gets the logs and results.json."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            with Cluster(find_binary(print), folder) as cluster:
                (folder / scheduler).mkdir()
                tested = SCHEDULERS[scheduler](cluster, folder / scheduler)
                try:
                    _run_suite(cluster, focus, out)
                finally:
                    tested.stop()
        finally:
            for log in (*folder.glob("*.log"), *folder.glob("*/*.log")):
                shutil.copy(log, out)


def _run_suite(cluster: Cluster, focus: str, out: Path) -> None:
    began = time.monotonic()
    command: list[str | Path] = [
        find_binary(print, SUITE),
        f"--kubeconfig={cluster.kubeconfig(cluster.folder / 'suite.kubeconfig')}",
        "--provider=skeleton",
        f"--num-nodes={len(NODES)}",
        "--allowed-not-ready-nodes=0",
        f"-ginkgo.focus={GROUP}.*({focus})",
        f"-ginkgo.skip={SKIP}",
        f"-ginkgo.seed={SEED}",
        "-ginkgo.v",
        "-ginkgo.no-color",
        f"-ginkgo.timeout={LONGEST_MINUTES}m",
        f"-ginkgo.json-report={out / 'results.json'}",
        "-test.timeout=0",
    ]
    suite = Process("e2e.test", command, out / "e2e.log", env={"E2E_ENDS_WITH_STDIN": "1"})
    try:
        suite.exit_code(seconds=60 * (LONGEST_MINUTES + 5))
    finally:
        suite.stop()
    print(f"{(time.monotonic() - began) / 60:.0f} minutes", flush=True)


def entry(theirs: list[Result], ours: list[Result]) -> str:
    """A section for the page of results."""
    commit = subprocess.run(("git", "rev-parse", "--short", "HEAD"), cwd=ROOT, check=True, capture_output=True)
    python = ".".join(map(str, sys.version_info[:3]))
    title = f"## {datetime.now(UTC):%Y-%m-%d}, {commit.stdout.decode().strip()}"
    return f"{title}\n\nKubernetes {SUITE.kubernetes}, Python {python}.\n\n{table(theirs, ours)}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--focus", default="", metavar="REGEX", help="run the tests whose names match")
    parser.add_argument("--schedulers", nargs="+", choices=SCHEDULERS, default=list(SCHEDULERS), help="default: both")
    parser.add_argument("--out", type=Path, default=Path(".campaign/e2e"), help="default .campaign/e2e")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is stopped
    out = options.out.resolve() / ("some" if options.focus else "all")
    for scheduler in options.schedulers:
        print(f"{scheduler}: {out / scheduler / 'e2e.log'}", flush=True)
        run(scheduler, options.focus, out / scheduler)
    theirs, ours = (read_results(out / scheduler / "results.json") for scheduler in SCHEDULERS)
    section = entry(theirs, ours)
    print(section)
    if not options.focus:
        PAGE.write_text(with_entry(PAGE.read_text(), section))
    lost = lost_tests(theirs, ours)
    print(f"{len(ours)} tests; kubesched fails {len(lost)} that kube-scheduler passes", *lost, sep="\n  ")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
