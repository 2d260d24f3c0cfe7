"""The kinds in `reads` are checked where the class is defined, or where its plugin is built."""

import re

import pytest

from kubesched.errors import PluginDefinitionError
from kubesched.framework import Plugin, Status, kinds_read
from kubesched.setup import set_up
from kubesched.testing import FakeCluster, make_node

REFUSED = [
    (("Servce",), 'Odd.reads: "Servce" is not a kind that kubesched reads; did you mean "Service"?'),
    (("DaemonSet",), 'Odd.reads: "DaemonSet" is not a kind that kubesched reads; write other kinds as'),
    (("service",), 'did you mean "Service"?'),
    ("Service", "Odd.reads is 'Service'; expected a tuple of kinds, such as (\"Service\",)"),
    (None, "Odd.reads is None; expected a tuple"),
    ((7,), "Odd.reads is (7,); expected a tuple"),
    (("metrics.k8s.io/NodeMetrics",), "write other kinds as group/version/Kind"),
    (("example.com/v1/",), "write other kinds as group/version/Kind"),
    (("v1/Secret",), "plugins do not read Secrets"),
    (("v1/secrets?",), "plugins do not read Secrets"),
    (("v1/SECRET",), "plugins do not read Secrets"),
    (("/v1/SecreT?",), "plugins do not read Secrets"),
    (("policy/v1beta1/PodDisruptionBudget",), 'kubesched reads PodDisruptionBudget as policy/v1; write "PodDisruptio'),
]


@pytest.mark.parametrize(("reads", "message"), REFUSED)
def test_what_cannot_be_read_is_refused_where_the_class_is_defined(reads: object, message: str) -> None:
    with pytest.raises(PluginDefinitionError, match=re.escape(message)):
        type("Odd", (Plugin,), {"reads": reads})


class Odd(Plugin):
    """Decides in `__init__` what it reads."""

    def __init__(self, args=None):
        super().__init__(args)
        self.reads = ("Servce",)

    def filter(self, state, pod, node):
        return Status.SUCCESS


def test_what_an_instance_reads_is_checked_where_it_is_built() -> None:
    with pytest.raises(PluginDefinitionError, match=r'Odd\.reads: "Servce" is not a kind'):
        set_up(None, [Odd])
    with pytest.raises(PluginDefinitionError, match=r'Odd\.reads: "Servce" is not a kind'):
        FakeCluster(Odd(), nodes=[make_node("n")])


class Reads(Plugin):
    def __init__(self, *reads: str) -> None:
        super().__init__()
        self.reads = reads


def test_a_kind_is_read_once_and_optional_only_where_all_say_so() -> None:
    quota, metrics = "example.com/v1/Quota", "metrics.k8s.io/v1beta1/NodeMetrics"
    first, second = Reads(f"{quota}?", f"{metrics}?", "Service"), Reads("example.com/v1/quotas", f"{metrics}?")
    assert set(kinds_read([first, second])) == {"example.com/v1/quotas", f"{metrics}?", "Service"}
    assert kinds_read([Reads("v1/Service"), Reads("Service")]) == ("Service",)
