"""Every check of the contract catches a plugin that breaks it, and says how."""

from typing import Any

import msgspec
import numpy as np
import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.config import FieldError, PluginArgs, child
from kubesched.errors import ConfigError
from kubesched.framework import DependsOn, EventRegistration, Plugin, PreFilterResult, Status, Wait
from kubesched.testing import check_plugin, make_node, make_pod, varied_scenario

pytestmark = pytest.mark.filterwarnings("ignore:.*its filter accepts every pod:UserWarning")
NO = Status.unschedulable("no")


class Good(Plugin):
    """Keeps every promise: the team of a pod chooses among the nodes of that team, idle ones first."""

    class Args(PluginArgs):
        label: str = "team"
        bonus: int = 10

    depends_on = DependsOn.ROW
    reasons = (Status.unresolvable("node(s) belonged to another team"),)

    def filter_nodes(self, state, pod, nodes):
        team = pod.labels.get(self.args.label)
        if team is None:
            return np.zeros(len(nodes), dtype=np.int8)
        owners = [node.labels.get(self.args.label) for node in nodes]
        return np.array([owner not in (None, team) for owner in owners], dtype=np.int8)

    def filter_part(self, state, pod):
        return pod.labels.get(self.args.label)

    def score_nodes(self, state, pod, nodes):
        return self.args.bonus * nodes.n_pods

    def score_part(self, state, pod):
        return None

    def normalize_score(self, state, pod, scores):
        return 100 - scores * 100 // max(int(scores.max(initial=0)), 1)


def failures(plugin_class: type[Plugin], **options: Any) -> dict[str, str]:
    """Check -> what it says, of those that fail."""
    found = {}
    for check in check_plugin(plugin_class, **options):
        try:
            check()
        except AssertionError as failure:
            found[str(check)] = str(failure)
    return found


def test_a_good_plugin_passes_every_check():
    assert failures(Good, args={"bonus": 3}) == {}
    assert failures(EqualByTeam) == {}


class Talks(Good):
    def reserve(self, state, pod, node_name):
        self.handle.logger.warning("%s is reserved", pod.name)
        return Status.SUCCESS

    def unreserve(self, state, pod, node_name):
        self.handle.logger.warning("%s is given back", pod.name)


def test_a_plugin_may_log_warnings():
    assert failures(Talks) == {}


def test_checks_are_those_that_apply():
    class OnlyPermit(Plugin):
        def permit(self, state, pod, node_name):
            return Wait(0.0)

    assert [check.name for check in check_plugin(OnlyPermit)] == [
        "args_survive_a_file",
        "hooks_answer_what_is_allowed",
        "a_reason_with_every_rejection",
    ]


def test_arguments_are_read_strictly_before_anything_is_checked():
    with pytest.raises(ConfigError, match="bonsu"):
        check_plugin(Good, args={"bonsu": 3})


def test_arguments_of_a_wrong_type_are_one_sentence():
    with pytest.raises(ConfigError) as caught:
        check_plugin(Good, args={"bonus": "3"})
    assert str(caught.value) == 'decoding args for plugin checked Good: bonus: expected an integer, found "3"'
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


class RaisingScore(Plugin):
    def score(self, state, pod, node):
        raise KeyError("zone")


class RaisingFilter(Plugin):
    def filter(self, state, pod, node):
        raise KeyError("zone")


class RaisingReserve(Plugin):
    def reserve(self, state, pod, node_name):
        raise KeyError("zone")


class RaisingStart(RaisingScore):
    def start(self, handle):
        raise OSError("no such file")


@pytest.mark.parametrize(
    ("plugin_class", "said"),
    [
        (RaisingScore, r"RaisingScore: pod default/plain: .* KeyError: 'zone' \(test_contract.py:\d+ in score\)"),
        (RaisingFilter, r"RaisingFilter: pod default/plain, .* KeyError: 'zone' \(test_contract.py:\d+ in filter\)"),
        (RaisingReserve, r"RaisingReserve: pod default/.* KeyError: 'zone' \(test_contract.py:\d+ in reserve\)"),
        (RaisingStart, r"RaisingStart: .* OSError: no such file \(test_contract.py:\d+ in start\)"),
    ],
)
def test_a_fault_is_one_sentence_with_its_place(plugin_class, said):
    check = next(check for check in check_plugin(plugin_class) if check.name == "hooks_answer_what_is_allowed")
    with pytest.raises(AssertionError, match=said) as caught:
        check()
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


class Yes(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS if len(node.pods) < 50 else NO


def test_a_filter_that_never_rejects_is_warned_about_once():
    with pytest.warns(UserWarning, match="Yes: its filter accepts every pod on every node of the scenario") as warned:
        assert failures(Yes) == {}
    assert len(warned) == 1


def test_a_filter_that_rejects_is_not_warned_about():
    crowded = [make_pod(f"p{i}", node="n2") for i in range(50)]
    assert failures(Yes, scenario=varied_scenario().extended(pods=crowded)) == {}


class Crowded(Plugin):
    """Remembers the fullest node that it has ever seen."""

    def __init__(self, args=None):
        super().__init__(args)
        self.most = 0

    def filter_nodes(self, state, pod, nodes):
        self.most = max(self.most, int(nodes.n_pods.max(initial=0)))
        return np.where(nodes.n_pods == self.most, 1, 0)

    reasons = (NO,)


def test_what_a_plugin_keeps_has_to_follow_changes_that_are_taken_back():
    said = failures(Crowded)["same_answer_twice"]
    assert said.startswith("Crowded: a pod came, a node left, and both were taken back; then the answer for pod ")


class Growing(Good):
    class Args(Good.Args):
        def with_defaults(self):
            return msgspec.structs.replace(self, bonus=self.bonus + 1)


class NeverContent(Good):
    class Args(Good.Args):
        def validate(self, path):
            return [FieldError.invalid(child(path, "bonus"), self.bonus, "must be another")]


class Forgetful(Good):
    def __init__(self, args=None):
        super().__init__(msgspec.structs.replace(args or self.Args(), bonus=1))


class NoneFilter(Plugin):
    def filter(self, state, pod, node):
        return None if node.labels.get("disk") else Status.SUCCESS


class FloatScore(Plugin):
    def score(self, state, pod, node):
        return 0.5


class NonePreEnqueue(Plugin):
    def pre_enqueue(self, pod):
        return None


class NoneReserve(Plugin):
    def reserve(self, state, pod, node_name):
        return None


class RaisingPostBind(Plugin):
    def post_bind(self, state, pod, node_name):
        raise ValueError("late")


class NonePostFilter(Plugin):
    def filter(self, state, pod, node):
        return NO

    def post_filter(self, state, pod, diagnosis):
        return None


class ListHint(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS

    def events_to_register(self):
        event = ClusterEvent(EventResource.NODE, ActionType.ADD)
        return [EventRegistration(event, lambda pod, old, new: True)]


class Moody(Plugin):
    """Counts its calls."""

    calls = 0

    def score(self, state, pod, node):
        self.calls += 1
        return self.calls % 100


class Shared(Plugin):
    """Instances know of each other."""

    n_instances = 0

    def __init__(self, args=None):
        super().__init__(args)
        Shared.n_instances += 1
        self.is_odd = Shared.n_instances % 2

    def filter(self, state, pod, node):
        return NO if self.is_odd else Status.SUCCESS


class FirstOnly(Plugin):
    """Prefers a place in the list."""

    def pre_filter(self, state, pod, nodes):
        return PreFilterResult(frozenset(nodes.names[:2]))


class Relative(Good):
    """Judges a row by the other rows of the table."""

    depends_on = DependsOn.ANYTHING

    def filter_nodes(self, state, pod, nodes):
        return (nodes.n_pods > nodes.n_pods.min(initial=100)).astype(np.int8)


class RelativeScore(Good):
    depends_on = DependsOn.ANYTHING

    def score_nodes(self, state, pod, nodes):
        return np.full(len(nodes), len(nodes))


class Greedy(Plugin):
    """Writes into the columns."""

    def filter(self, state, pod, node):
        return Status.SUCCESS

    def pre_filter(self, state, pod, nodes):
        nodes.requested[0, 0] += 100
        return Status.SUCCESS


class Labeller(Plugin):
    """Writes into an object."""

    def score(self, state, pod, node):
        node.node.metadata.labels["seen"] = "true"
        return 1


class Marker(Plugin):
    """Writes into the pod."""

    def score(self, state, pod, node):
        pod.metadata.annotations["seen"] = "true"
        return 1

    def pre_score(self, state, pod, nodes):
        return Status.SUCCESS if pod.annotations else Status.SKIP


class HighScore(Plugin):
    def score(self, state, pod, node):
        return 50 * len(node.pods) + 60


class Wordless(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable() if node.node.unschedulable else Status.SUCCESS


class WordlessColumns(Good):
    reasons = (Status.unschedulable(""),)


class WordlessDetails(Wordless):
    def filter(self, state, pod, node):
        return Status.unschedulable("closed") if node.node.unschedulable else Status.SUCCESS

    def explain_rejection(self, state, pod, node, status):
        return ["cordoned", ""]


class WordlessData(WordlessDetails):
    def explain_rejection(self, state, pod, node, status):
        return ["cordoned"]

    def explain_data(self, state, pod):
        return ["20 s old", 20]


class UnlikeNodes(Good):
    """Explains each node by its name, and says that all are alike."""

    def filter_nodes(self, state, pod, nodes):
        return np.ones(len(nodes), dtype=np.int8)

    def explain_rejection(self, state, pod, node, status):
        return [f"{node.name} is closed"]

    def explain_alike(self, state, pod, nodes):
        return np.zeros(len(nodes), dtype=np.int64)


class WordlessGate(Plugin):
    def pre_enqueue(self, pod):
        return Status.unresolvable() if pod.labels else Status.SUCCESS


class StaleRows(Good):
    """Reads the pods on a node and says that it does not."""

    depends_on = DependsOn.NODE


class StaleFilter(Good):
    """Its part leaves out what it reads of the pod."""

    def filter_part(self, state, pod):
        return None


class StaleScore(Good):
    def score_nodes(self, state, pod, nodes):
        return np.full(len(nodes), len(pod.name))

    def score_part(self, state, pod):
        return pod.namespace

    def normalize_score(self, state, pod, scores):
        return scores


class StaleObjects(Good):
    """Reads objects that no column follows."""

    reads = ("Service",)

    def filter_nodes(self, state, pod, nodes):
        found = len(list(self.handle.list("Service")))
        return np.full(len(nodes), 0 if found else 1)


class EqualByNothing(Good):
    """Reads the team of a pod, and does not name it."""

    equal_by = ("requests",)


class EqualByLabels(Good):
    """Names what has no hash."""

    equal_by = ("pod.labels",)


class SkipsByTeam(Good):
    """Counts over all nodes, so that it promises equal pods no more than to skip them alike."""

    depends_on = DependsOn.CLUSTER
    equal_by = ("requests",)

    def pre_filter(self, state, pod, nodes):
        return Status.SUCCESS if pod.labels.get("team") else Status.SKIP


class EqualByTeam(Good):
    """Names all that it reads."""

    equal_by = ("identity",)


class Seen:
    def __init__(self, n_pods: dict[str, int]) -> None:
        self.n_pods = n_pods


class StaleCounts(Plugin):
    """Counts pods in pre_filter and does not hear of pods that are moved."""

    def pre_filter(self, state, pod, nodes):
        state.write(Seen({node.name: len(node.pods) for node in nodes}))
        return Status.SUCCESS

    def filter(self, state, pod, node):
        return NO if state.read(Seen).n_pods[node.name] else Status.SUCCESS


class Leaky(Plugin):
    """Keeps what it reserved."""

    def __init__(self, args=None):
        super().__init__(args)
        self.taken = set()

    def filter(self, state, pod, node):
        return NO if node.name in self.taken else Status.SUCCESS

    def reserve(self, state, pod, node_name):
        self.taken.add(node_name)
        return Status.SUCCESS


class FragileUnreserve(Plugin):
    def __init__(self, args=None):
        super().__init__(args)
        self.taken = set()

    def filter(self, state, pod, node):
        return Status.SUCCESS

    def reserve(self, state, pod, node_name):
        self.taken.add(pod.uid)
        return Status.SUCCESS

    def unreserve(self, state, pod, node_name):
        self.taken.remove(pod.uid)


BROKEN = [
    (Growing, "args_survive_a_file", "gives Args(label='team', bonus=12)"),
    (
        NeverContent,
        "args_survive_a_file",
        "the arguments are not valid: args.bonus: Invalid value: 10: must be another",
    ),
    (Forgetful, "args_survive_a_file", "__init__ must store its arguments"),
    (NoneFilter, "hooks_answer_what_is_allowed", "filter must return Status.SUCCESS or a rejection; found None"),
    (FloatScore, "hooks_answer_what_is_allowed", "score must return an int64; found 0.5"),
    (
        NonePreEnqueue,
        "hooks_answer_what_is_allowed",
        "pre_enqueue: pod default/plain: must return SUCCESS or a rejecti",
    ),
    (NoneReserve, "hooks_answer_what_is_allowed", 'running Reserve plugin "NoneReserve": must return a Status'),
    (RaisingPostBind, "hooks_answer_what_is_allowed", "PostBind plugin RaisingPostBind: ValueError: late"),
    (
        NonePostFilter,
        "hooks_answer_what_is_allowed",
        'running PostFilter plugin "NonePostFilter": must return (PostFilt',
    ),
    (ListHint, "hooks_answer_what_is_allowed", "its hint for NodeAdd must return a QueueingHint; found True"),
    (Moody, "same_answer_twice", "two calls for pod default/plain return different answers: node n1: "),
    (
        Shared,
        "same_answer_twice",
        "two instances return different answers for pod default/plain: node n1: ",
    ),
    (FirstOnly, "same_answer_in_any_node_order", "the order of the nodes changes the answer for pod default/plain"),
    (Relative, "same_answer_for_some_rows", "Relative.filter_nodes: pod default/plain: called for ['n1'] alone"),
    (RelativeScore, "same_answer_for_some_rows", "RelativeScore.score_nodes: pod default/plain: called for ['n1'] a"),
    (Greedy, "snapshot_untouched", "a call for pod default/plain changes requested of the snapshot"),
    (Labeller, "snapshot_untouched", "changes the Nodes of the snapshot"),
    (Marker, "snapshot_untouched", "it changes pod default/red"),
    (HighScore, "scores_from_0_to_100", "returns an invalid score 160, it should in the range of [0, 100]"),
    (Wordless, "a_reason_with_every_rejection", "pod default/plain, node n6: Unschedulable without a reason"),
    (WordlessColumns, "a_reason_with_every_rejection", "its `reasons`: Unschedulable without a reason"),
    (
        WordlessDetails,
        "a_reason_with_every_rejection",
        "node n6: explain_rejection must return strings; found ['cordoned', ",
    ),
    (WordlessData, "a_reason_with_every_rejection", "explain_data must return strings; found ['20 s old', 20]"),
    (UnlikeNodes, "a_reason_with_every_rejection", "explain_alike returns one number for the nodes n1 and n2, and"),
    (WordlessGate, "a_reason_with_every_rejection", "pod default/red, pre_enqueue: UnschedulableAndUnresolvable with"),
    (
        StaleRows,
        "kept_columns_stay_true",
        "after a pod was added a kept column for pod default/plain differs from a new",
    ),
    (StaleFilter, "kept_columns_stay_true", "after nothing changed a kept column for pod default/red differs"),
    (StaleScore, "kept_columns_stay_true", "depends_on, filter_part or score_part omits something"),
    (
        StaleObjects,
        "kept_columns_stay_true",
        "after Service default/web was deleted a kept column for pod default/plain",
    ),
    (
        EqualByNothing,
        "equal_pods_get_equal_answers",
        "copy with the labels of default/red are equal in equal_by = ('requests',), but their answers differ: node n",
    ),
    (
        EqualByLabels,
        "equal_pods_get_equal_answers",
        "equal_by has 'pod.labels', which pod default/plain cannot be compared by: unhashable type: 'dict'; name",
    ),
    (SkipsByTeam, "equal_pods_get_equal_answers", "of default/red are equal in equal_by = ('requests',), but the plug"),
    (StaleCounts, "moved_pods_count", "moved away in a what-if table the verdict is not that of a cluster without it"),
    (Leaky, "unreserve_gives_back", "reserve and unreserve for pod default/plain change something"),
    (FragileUnreserve, "unreserve_gives_back", "Unreserve plugin FragileUnreserve: KeyError"),
]


@pytest.mark.parametrize(
    ("plugin_class", "check", "words"), BROKEN, ids=[f"{name}-{broken.__name__}" for broken, name, _ in BROKEN]
)
def test_a_broken_promise_is_caught(plugin_class: type[Plugin], check: str, words: str):
    found = failures(plugin_class)
    assert check in found
    assert words in found[check]
    assert found[check].startswith(plugin_class.__name__)


def test_every_check_has_a_plugin_that_breaks_it():
    everything = {str(check) for plugin in (Leaky, Good, EqualByTeam) for check in check_plugin(plugin)}
    assert everything == {check for _, check, _ in BROKEN}


def test_the_scenario_can_be_extended_until_the_rule_says_no():
    class NotOnFriday(Plugin):
        def filter(self, state, pod, node):
            return None if node.labels.get("day") == "friday" and pod.labels.get("risky") else Status.SUCCESS

    assert failures(NotOnFriday) == {}
    scenario = varied_scenario().extended(
        nodes=[make_node("friday", labels={"day": "friday"})], pending=[make_pod("risky", labels={"risky": "yes"})]
    )
    assert "hooks_answer_what_is_allowed" in failures(NotOnFriday, scenario=scenario)
