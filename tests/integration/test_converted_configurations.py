"""kube-scheduler v1.36.3 accepts every example once it is converted."""

import subprocess
from pathlib import Path

import pytest
import yaml

from kubesched.setup import convert_text
from tests.integration.build import find_binary

FOLDER = Path(__file__).parents[2] / "examples" / "configurations"
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": ""}}],
    "current-context": "c",
}

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def test_kube_scheduler_accepts_every_converted_example(tmp_path: Path) -> None:
    binary = find_binary(print)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(KUBECONFIG))
    refused = {}
    files = sorted(file for file in FOLDER.iterdir() if file.name != "README.md")
    for file in files:
        converted, written = tmp_path / "converted.yaml", tmp_path / f"{file.name}.written"
        document = yaml.safe_load(convert_text(file, kube_scheduler=True)[0])
        document["clientConnection"] = {"kubeconfig": str(kubeconfig)}
        document["extenders"] = [_without_files(one) for one in document.get("extenders", ())]
        converted.write_text(yaml.safe_dump(document))
        command = [binary, "kube-scheduler", f"--config={converted}", f"--write-config-to={written}"]
        command += [f"--cert-dir={tmp_path}", "--secure-port=0", "--authentication-skip-lookup"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if run.returncode or not written.exists():
            refused[file.name] = run.stderr[-500:]
    assert len(files) >= 30
    assert refused == {}


def _without_files(extender: dict) -> dict:
    """The certificate authority of an example is not on this machine."""
    return {key: value for key, value in extender.items() if key != "tlsConfig"}
