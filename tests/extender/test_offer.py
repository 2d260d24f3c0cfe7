"""Which verbs an extender offers, and the stanza that says so to kube-scheduler."""

import pytest
import yaml

from kubesched.config import ExtenderManagedResource, parse_duration
from kubesched.extender import Offer, find_offer
from kubesched.framework import Plugin
from kubesched.testing import minimal_profile

VERBS = ("filter", "prioritize", "preempt", "bind")


def profile_with(*hooks: str, weight: int = 1):
    """A profile of one plugin that has these hooks, and of nobody who binds besides."""
    plugin = type("Own", (Plugin,), {hook: lambda self, *given: None for hook in hooks})()
    made = minimal_profile(plugin, weights={"Own": weight})
    made.points = {point: tuple(one for one in called if one is plugin) for point, called in made.points.items()}
    made.plugins = (plugin,)
    return made


@pytest.mark.parametrize(
    ("hooks", "verbs"),
    [
        (["filter"], ["filter"]),
        (["filter_nodes"], ["filter"]),
        (["pre_filter"], ["filter"]),
        (["score"], ["prioritize"]),
        (["preempt"], ["preempt"]),
        (["reserve"], ["bind"]),
        (["unreserve"], ["bind"]),
        (["permit"], ["bind"]),
        (["pre_bind"], ["bind"]),
        (["bind"], ["bind"]),
        (["post_bind"], ["bind"]),
        (["filter", "score", "preempt", "permit"], list(VERBS)),
        (["pre_score", "post_filter", "pre_enqueue", "sort_key"], []),
    ],
)
def test_a_verb_is_offered_where_a_plugin_takes_part(hooks: list[str], verbs: list[str]):
    assert find_offer([profile_with(*hooks)]).verbs == verbs


def test_profiles_offer_together_and_bind_may_be_asked_for():
    profiles = [profile_with("filter"), profile_with("score", weight=3), profile_with("score", weight=2)]
    assert find_offer(iter(profiles)).verbs == ["filter", "prioritize"]
    assert find_offer(iter(profiles)).weight == 3
    assert find_offer(profiles, bind=True).verbs == ["filter", "prioritize", "bind"]


def stanza(*verbs: str, **options) -> dict:
    offer = Offer(**{verb: verb in verbs for verb in VERBS}, weight=7)
    options = {"url_prefix": "http://127.0.0.1:8888", "node_cache_capable": True, "http_timeout": 5.0} | options
    (found,) = yaml.safe_load(offer.stanza(**options))["extenders"]
    return found


def test_the_stanza_says_what_is_offered_and_no_more():
    assert stanza("filter") == {
        "urlPrefix": "http://127.0.0.1:8888",
        "filterVerb": "filter",
        "nodeCacheCapable": True,
        "httpTimeout": "5s",
    }
    assert stanza(*VERBS, node_cache_capable=False, ignorable=True) == {
        "urlPrefix": "http://127.0.0.1:8888",
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "preemptVerb": "preempt",
        "bindVerb": "bind",
        "weight": 7,
        "nodeCacheCapable": False,
        "httpTimeout": "5s",
        "ignorable": True,
    }


def test_https_comes_with_its_files_and_odd_texts_stay_texts():
    tls = {"caFile": "/a b/#ca.crt", "serverName": "on"}
    assert stanza("filter", url_prefix="https://[::1]:8888", tls=tls) == {
        "urlPrefix": "https://[::1]:8888",
        "filterVerb": "filter",
        "nodeCacheCapable": True,
        "httpTimeout": "5s",
        "enableHTTPS": True,
        "tlsConfig": tls,
    }


def test_managed_resources_are_in_the_stanza():
    gpu = ExtenderManagedResource(name="example.com/gpu", ignored_by_scheduler=True)
    assert stanza("filter", managed_resources=[gpu, ExtenderManagedResource(name="example.com/on")]) == {
        "urlPrefix": "http://127.0.0.1:8888",
        "filterVerb": "filter",
        "nodeCacheCapable": True,
        "httpTimeout": "5s",
        "managedResources": [{"name": "example.com/gpu", "ignoredByScheduler": True}, {"name": "example.com/on"}],
    }


@pytest.mark.parametrize("seconds", [0.000025, 0.25, 5.0, 90.5, 1_234_567.0])
def test_the_timeout_is_a_duration_that_go_reads(seconds: float):
    assert parse_duration(stanza("filter", http_timeout=seconds)["httpTimeout"]) == seconds
