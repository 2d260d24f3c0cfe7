"""Comments in a live scheduler's manifests."""

import pytest
import yaml

from kubesched.manifests import write_commented
from kubesched.manifests.scheduler_comments import _COMMENTS
from tests.manifests.made import EVERY_FORM, Made

EVIDENT = {"metadata", "selector", "template", "containers", "name", "serviceAccountName", "volumes", "command"}


def written(**options: object) -> str:
    made = Made(**options)
    return write_commented(made.documents, made.installation)


@pytest.mark.parametrize("options", EVERY_FORM.values(), ids=list(EVERY_FORM))
def test_comments_change_no_document(options: dict[str, object]):
    assert list(yaml.safe_load_all(written(**options))) == Made(**options).documents


def test_every_comment_is_in_some_form():
    texts = " ".join(" ".join(written(**options).replace("#", " ").split()) for options in EVERY_FORM.values())
    comments = [comment for by_path in _COMMENTS.values() for comment in by_path.values()]
    assert [comment for comment in comments if comment not in texts] == []


def test_every_field_of_the_pod_is_explained_or_evident():
    lines = written().splitlines()
    start = lines.index("kind: Deployment")
    pod = Made().pod
    for field in (*pod, *pod["containers"][0]):
        rows = [row for row in range(start, len(lines)) if lines[row].strip(" -").startswith(f"{field}:")]
        assert field in EVIDENT or any("# " in lines[row - 1] for row in rows), field


def test_each_rule_has_its_reason():
    lines = written().splitlines()
    rules = [row for row, line in enumerate(lines) if line.startswith("- apiGroups:")]
    assert len(rules) == len(Made()["ClusterRole"]["rules"]) + len(Made()["Role"]["rules"])
    assert all(lines[row - 1].startswith("# ") for row in rules)
