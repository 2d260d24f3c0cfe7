"""Commands to paste: nothing else in them runs."""

import subprocess

from kubesched.api import Patch, PatchTarget
from kubesched.pages.formats import Hand, Page, Paragraph, as_patch

NODE = PatchTarget("v1", "Node", "", "n1")
DEPLOYMENT = PatchTarget("apps/v1", "Deployment", "shop", "web")


def lines(*patches: Patch, title: str = "Pod shop/web-1: do it -> 1 node") -> list[str]:
    page = Page("explain", Paragraph("Pod shop/web-1 fits nowhere."), hands=[Hand(title, patches)])
    return as_patch(page).splitlines()


def test_commands_follow_the_pods_and_the_fix():
    assert lines(Patch("uncordon n1", NODE, "patch", {}, "merge", ("kubectl uncordon n1",))) == [
        "# Pod shop/web-1 fits nowhere.",
        "",
        "# Pod shop/web-1: do it -> 1 node",
        "kubectl uncordon n1",
    ]


def test_the_steps_of_a_pair_are_named():
    first = Patch("uncordon n1", NODE, "patch", {}, "merge", ("kubectl uncordon n1",))
    assert lines(first, Patch("add a node like n1"))[3:] == [
        "# uncordon n1",
        "kubectl uncordon n1",
        "# by hand: add a node like n1",
    ]


def test_the_patch_of_a_manifest_is_a_comment():
    patch = Patch("tolerate db", DEPLOYMENT, "patch", {"spec": {"a": None}}, "strategic")
    where = "in the manifest of Deployment shop/web, as a strategic merge patch"
    assert lines(patch)[3] == f'# {where}: {{"spec": {{"a": null}}}}'


def test_the_end_of_a_line_in_a_name_begins_no_command():
    text = as_patch(
        Page(
            "explain",
            Paragraph("Pod a\necho hurt fits nowhere."),
            hands=[Hand("x\r\necho hurt", [Patch("y\necho hurt")])],
        )
    )
    done = subprocess.run(["sh"], input=text, text=True, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_report_without_fixes_has_only_its_verdict():
    assert as_patch(Page("fit", Paragraph("1 of 1 would fit."))) == "# 1 of 1 would fit.\n"
