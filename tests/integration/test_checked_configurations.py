"""kube-scheduler v1.36.3 rejects exactly the configurations in which `kubesched config check` finds an error."""

import re
import subprocess
from pathlib import Path

import pytest

from kubesched.known_flags import FLAGS
from kubesched.review import check_configuration
from tests.integration.build import find_binary
from tests.review.checked_cases import FOLDER, cases

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]


@pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.iterdir()))
def test_kube_scheduler_rejects_what_has_an_error(file: str, tmp_path: Path) -> None:
    binary = find_binary(print)
    config, written = tmp_path / "config.yaml", tmp_path / "written.yaml"
    command = [binary, "kube-scheduler", f"--config={config}", f"--write-config-to={written}", f"--cert-dir={tmp_path}"]
    command += ["--master=http://127.0.0.1:9", "--secure-port=0", "--authentication-skip-lookup"]
    differing = {}
    for name, case in cases(file).items():
        config.write_text(case.text)
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        findings = check_configuration(case.text).findings
        is_rejected = any(one.severity == "error" for one in findings)
        is_missing = "ca.crt: no such file" in run.stderr  # certificates are not read
        if is_rejected != (run.returncode != 0) and not is_missing:
            differing[name] = run.stderr[-500:]
    assert differing == {}


def test_kube_scheduler_has_the_flags_that_are_known_and_no_others() -> None:
    run = subprocess.run([find_binary(print), "kube-scheduler", "--help"], capture_output=True, text=True, check=False)
    flags = set(re.findall(r"^ +(?:-\w, )?--([\w-]+)", run.stdout + run.stderr, re.MULTILINE))
    of_json_log = {name for name in FLAGS if name.startswith("log-json-")}  # the binary of the tests has no JSON log
    assert flags == FLAGS - of_json_log
