"""The plugin under check, with its calls for the scenario."""

from collections.abc import Iterable

from kubesched.api import KubeObject, Node, Pod
from kubesched.config import PluginArgs
from kubesched.errors import PluginError
from kubesched.framework import Code, Plugin, Status
from kubesched.testing.fake_cluster import FakeCluster
from kubesched.testing.scenario import Scenario

Answers = tuple[dict[str, Status], dict[str, int]]
"""The answers of a plugin about the nodes: verdicts, scores."""


class Subject:
    """A plugin class with its arguments, and what to ask it about.

    Attributes:
        name: the plugin's name.
    """

    def __init__(self, plugin_class: type[Plugin], args: PluginArgs, scenario: Scenario) -> None:
        self.plugin_class = plugin_class
        self.args = args
        self.scenario = scenario
        self.name = plugin_class.name

    def renewed(self) -> "Subject":
        """The same over new objects, whatever an earlier check's plugin did to the old ones."""
        return Subject(self.plugin_class, self.args, self.scenario.copied())

    def plugin(self) -> Plugin:
        """A new instance."""
        return self.plugin_class(self.args)

    def plugin_in(self, cluster: FakeCluster) -> Plugin:
        """The instance that runs in a cluster."""
        return next(one for one in cluster.framework.profile.plugins if isinstance(one, self.plugin_class))

    def cluster(
        self,
        *,
        nodes: Iterable[Node] | None = None,
        pods: Iterable[Pod] | None = None,
        objects: Iterable[KubeObject] | None = None,
    ) -> FakeCluster:
        """A new instance in the scenario's cluster, or in another one."""
        scenario = self.scenario
        return FakeCluster(
            self.plugin(),
            nodes=scenario.nodes if nodes is None else nodes,
            pods=scenario.pods if pods is None else pods,
            objects=scenario.objects if objects is None else objects,
        )

    def answers(self, cluster: FakeCluster, pod: Pod) -> Answers:
        """Ask for verdicts and scores.

        Raises:
            AssertionError: the plugin fails instead of answering.
        """
        verdicts = cluster.filter(pod)
        for name, status in verdicts.items():
            assert status.code is not Code.ERROR, f"{self.name}: pod {pod.key}, node {name}: {status.located}"
        try:
            return verdicts, cluster.score(pod)
        except PluginError as error:
            raise AssertionError(f"{self.name}: pod {pod.key}: {error}") from None


def difference(first: Answers, second: Answers) -> str:
    """The first node that is answered differently, with both answers; empty for none."""
    for one, other in zip(first, second, strict=True):
        assert isinstance(one, dict)
        assert isinstance(other, dict)
        for name in sorted({*one, *other}):
            if one.get(name) != other.get(name):
                return f"node {name}: {_answer_text(one.get(name))}, then {_answer_text(other.get(name))}"
    return ""


def _answer_text(answer: object) -> str:
    if isinstance(answer, Status):
        return f"{answer.code.value} {list(answer.reasons)}" if answer.reasons else answer.code.value
    return "no answer" if answer is None else str(answer)
