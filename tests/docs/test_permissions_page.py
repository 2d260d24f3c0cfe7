"""docs/guides/permissions.md lists the permissions that the manifests grant, and no others."""

import re

import yaml

from kubesched.manifests import Grant, cluster_grants, lease_grants
from tests.docs.pages import ROOT, read_blocks

CODE = re.compile(r"`([^`]+)`")
PAGE = (ROOT / "docs/guides/permissions.md").read_text(encoding="utf-8")


def listed(headings: tuple[str, ...]) -> set[tuple[str, str, str]]:
    """Group, resource and verb of the tables below some headings."""
    found: set[tuple[str, str, str]] = set()
    for section in PAGE.split("\n## "):
        rows = [line.split("|")[1:4] for line in section.splitlines() if line.startswith("|")]
        if section.startswith(headings):
            for group, resources, verbs in rows[2:]:
                name = "".join(CODE.findall(group))
                found |= {(name, one, verb) for one in CODE.findall(resources) for verb in CODE.findall(verbs)}
    return found


def granted(grants: list[Grant]) -> set[tuple[str, str, str]]:
    return {
        (grant.rule["apiGroups"][0], resource, verb)
        for grant in grants
        for resource in grant.rule["resources"]
        for verb in grant.rule["verbs"]
    }


def test_the_page_lists_what_the_roles_grant():
    assert listed(("Reads", "Writes")) == granted(cluster_grants())
    assert listed(("Leader election",)) == granted(lease_grants("kubesched"))


def test_the_role_of_a_reader_has_what_is_read_and_nothing_else():
    guide = (ROOT / "docs/guides/scheduler.md").read_text(encoding="utf-8")
    (role,) = [block for block in read_blocks(guide) if block.options.get("file") == "reader.yaml"]
    (rule,) = yaml.safe_load(role.text)["rules"]
    reads = [(group, resource) for group, resource, verb in listed(("Reads",)) if verb == "watch"]
    assert set(rule["apiGroups"]) == {group for group, _ in reads}
    assert sorted(rule["resources"]) == sorted(resource for _, resource in reads)
    assert set(rule["verbs"]) == {"get", "list", "watch"}
