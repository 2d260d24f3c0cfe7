"""The page for authors with a plugin in Go names what a plugin in Python has."""

import re

from kubesched import Plugin
from kubesched.framework import Handle
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs/guides/from-a-go-plugin.md").read_text(encoding="utf-8")
MEMBERS = """
    AddNominatedPod DeleteNominatedPodIfExists UpdateNominatedPod NominatedPodsForNode RunPreScorePlugins
    RunScorePlugins RunFilterPlugins RunPreFilterExtensionAddPod RunPreFilterExtensionRemovePod Activate
    SnapshotSharedLister IterateOverWaitingPods GetWaitingPod RejectWaitingPod AddPodInPreBind GetPodInPreBind
    RemovePodInPreBind ClientSet KubeConfig EventRecorder SharedInformerFactory SharedDRAManager SharedCSIManager
    RunFilterPluginsWithNominatedPods Extenders Parallelizer APIDispatcher APICacher ProfileName PodGroupManager
    SignPod
"""
"""The methods of framework.Handle. Rule: public API of k8s.io/kube-scheduler/framework, v1.36."""


def test_every_member_of_the_handle_in_go_has_a_row():
    named = re.findall(r"`(\w+)", "\n".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")))
    assert set(MEMBERS.split()) - set(named) == set()


def test_what_the_page_names_of_the_handle_and_of_plugins_exists():
    assert {name for name in re.findall(r"\bhandle\.(\w+)", PAGE) if not hasattr(Handle, name)} == set()
    hooks = ("add_pods", "remove_pods", "normalize_score", "events_to_register", "sort_key", "less", "post_filter")
    assert {name for name in hooks if f"`{name}" not in PAGE or not hasattr(Plugin, name)} == set()
