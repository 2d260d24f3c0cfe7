"""The conversions are loaded for a file of an older version, and for no other."""

import subprocess
import sys

import pytest

HEADER = "apiVersion: kubescheduler.config.k8s.io/{}\nkind: KubeSchedulerConfiguration\n"
CODE = """
import sys
from kubesched.setup import set_up
set_up({text!r})
print(sorted(name for name in sys.modules if name.startswith("kubesched.legacy.dialects.")) != [])
"""


@pytest.mark.parametrize(("version", "is_loaded"), [("v1", "False"), ("v1beta3", "True")])
def test_a_conversion_is_loaded_when_a_file_asks_for_it(version: str, is_loaded: str):
    code = CODE.format(text=HEADER.format(version).encode())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == is_loaded
