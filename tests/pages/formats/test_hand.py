"""Commands to paste, and sentences about what no command does."""

import subprocess

from kubesched.api import Patch, PatchTarget
from kubesched.pages.formats import Page, Paragraph, as_markdown, as_script, hand

NODE = PatchTarget("v1", "Node", "", "n1")
DEPLOYMENT = PatchTarget("apps/v1", "Deployment", "shop", "web")
UNCORDON = Patch("uncordon n1", NODE, "patch", {}, "merge", ("kubectl uncordon n1",))


def page(*patches: Patch, title: str = "Pod shop/web-1: do it -> 1 node") -> Page:
    return Page("explain", Paragraph("Pod shop/web-1 fits nowhere."), appendix=tuple(hand(title, patches)))


def lines(*patches: Patch) -> list[str]:
    return as_script(page(*patches)).splitlines()[1:]


def test_commands_follow_the_pods_and_the_fix():
    assert lines(UNCORDON) == [
        "# Pod shop/web-1 fits nowhere.",
        "",
        "# Pod shop/web-1: do it -> 1 node",
        "kubectl uncordon n1",
    ]


def test_a_report_to_keep_has_them_too():
    assert "```shell\nkubectl uncordon n1\n```" in as_markdown(page(UNCORDON))


def test_the_steps_of_a_pair_are_named():
    assert lines(UNCORDON, Patch("add a node like n1"))[3:] == [
        "# Uncordon n1:",
        "kubectl uncordon n1",
        "# By hand: add a node like n1.",
    ]


def test_the_patch_of_a_manifest_is_a_sentence():
    (_, said) = hand("Pod web-1", [Patch("tolerate db", DEPLOYMENT, "patch", {"spec": {"a": None}}, "strategic")])
    where = "In the manifest of Deployment shop/web, as a strategic merge patch"
    assert (said.text, said.is_code) == (f'{where}: {{"spec": {{"a": null}}}}', False)


def test_the_end_of_a_line_in_a_name_begins_no_command():
    text = as_script(page(Patch("y\necho hurt"), title="x\r\necho hurt"))
    done = subprocess.run(["sh"], input=text, text=True, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
