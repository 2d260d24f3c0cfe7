"""Configurations that kube-scheduler would not accept, or that are none."""

import gzip

from tests.cli.bad_inputs.case import HEADER, Case
from tests.cli.bad_inputs.snapshots import bomb

PROFILE = "creating profile for scheduler name default-scheduler: "


def config(body: str, *words: str, header: str = HEADER) -> tuple[str | bytes, tuple[str, ...]]:
    return f"{header}{body}\n", words


def enabled(point: str, entry: str, *words: str) -> tuple[str | bytes, tuple[str, ...]]:
    return config(f"profiles: [{{plugins: {{{point}: {{enabled: [{{{entry}}}]}}}}}}]", PROFILE, *words)


def told(name: str, args: str, *words: str) -> tuple[str | bytes, tuple[str, ...]]:
    return config(f"profiles: [{{pluginConfig: [{{name: {name}, args: {args}}}]}}]", *words)


_ARGS = "profiles[0].pluginConfig[0].args"

FINDINGS: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "empty": ("", ("Object 'Kind' is missing in ''", "a configuration starts with apiVersion: ")),
    "a text": ("hello", ('expected an object, found "hello"',)),
    "a list": ("- a\n", ("expected an object, found [",)),
    "a page of something else": ("a: b\n" * 5000, ("Object 'Kind' is missing in 'a: b", "...'")),
    "cut JSON": ('{"apiVersion": "kubesch', ("json parse error: Unterminated string starting at: line 1 column 16",)),
    "deep JSON": ('{"a": ' + "[" * 100_000, ("json parse error: exceeded max depth",)),
    "a number of a page in JSON": (
        f'{{"parallelism": {"9" * 5000}}}',
        ("a number of 5000 digits is out of any range",),
    ),
    "no kind": config("", "Object 'Kind' is missing", header="apiVersion: kubescheduler.config.k8s.io/v1"),
    "an old version": config(
        "",
        'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3"',
        "expected apiVersion: kubescheduler.config.k8s.io/v1; `kubesched config convert FILE` converts it",
        header=HEADER.replace("/v1", "/v1beta3"),
    ),
    "a pod": ("apiVersion: v1\nkind: Pod\n", ('no kind "Pod" is registered for version "v1"',)),
    "arguments alone": config(
        "",
        "couldn't decode as KubeSchedulerConfiguration, got kubescheduler.config.k8s.io/v1, Kind=NodeResourcesFitArgs",
        header=HEADER.replace("KubeSchedulerConfiguration", "NodeResourcesFitArgs"),
    ),
    "broken YAML": config("profiles: [", "yaml: line 3: did not find expected node content"),
    "a tab": config("profiles:\n\t- x", "yaml: line 4: found character that cannot start any token"),
    "a key twice": config("parallelism: 1\nparallelism: 2", 'line 4: key "parallelism" already set in map'),
    "an unknown tag": config("parallelism: !x 1", "yaml: line 3: unknown tag '!x'"),
    "aliases of aliases": config(bomb(9), "yaml: line 9: document contains excessive aliasing"),
    "deep YAML": config("a: " + "[" * 100_000, "yaml: line 3: exceeded max depth of 200"),
    "an unknown field": config("paralelism: 3", 'unknown field "paralelism"', 'did you mean "parallelism"?'),
    "a number as a text": config("parallelism: many", 'parallelism: expected an integer, found "many"'),
    "a number of a page": config(f"parallelism: {'9' * 5000}", "parallelism: expected an integer", "999..."),
    "a number beyond int32": config("parallelism: 99999999999", "parallelism: expected an integer of at most "),
    "no parallelism": config("parallelism: 0", "parallelism: Invalid value: 0: should be an integer value greater"),
    "more than all nodes": config("percentageOfNodesToScore: 101", "Invalid value: 101: not in valid range [0-100]"),
    "no backoff": config("podInitialBackoffSeconds: 0", "podInitialBackoffSeconds: Invalid value: 0: must be greater"),
    "profiles that are a mapping": config("profiles: {}", "profiles: expected a list, found {}"),
    "two profiles of one name": config(
        "profiles: [{schedulerName: a}, {schedulerName: a}]", "profiles[1].schedulerName: Duplicate value"
    ),
    "a second profile without a name": config(
        "profiles: [{schedulerName: a}, {}]", "profiles[1].schedulerName: Required value"
    ),
    "an unknown plugin": enabled(
        "filter",
        "name: NodeNam",
        'FilterPlugin "NodeNam" does not exist\n  profiles[0].plugins.filter: no plugin has the name "NodeNam"; '
        'did you mean "NodeName"? "kubesched plugin list" prints them',
    ),
    "an unknown plugin at all points": enabled(
        "multiPoint",
        "name: NodeResourceFit",
        'profiles[0].plugins.multiPoint: no plugin has the name "NodeResourceFit"',
    ),
    "a plugin at a wrong point": enabled(
        "score",
        "name: NodeName",
        'plugin "NodeName" does not extend ScorePlugin plugin\n  profiles[0].plugins.score: NodeName extends filter',
    ),
    "a plugin twice": enabled("filter", "name: NodeName}, {name: NodeName", 'plugin "NodeName" already registered'),
    "a negative weight": enabled(
        "score",
        "name: NodeResourcesFit, weight: -1",
        "total score of Score plugins could overflow\n  profiles[0].plugins.score.enabled: NodeResourcesFit has weight "
        "-1; give",
    ),
    "a weight that is a text": config(
        "profiles: [{plugins: {score: {enabled: [{name: NodeResourcesFit, weight: lots}]}}}]",
        'profiles[0].plugins.score.enabled[0].weight: expected an integer, found "lots"',
    ),
    "a weight beyond int32": config(
        "profiles: [{plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 99999999999}]}}}]",
        "profiles[0].plugins.score.enabled[0].weight: expected an integer of at most 2147483647",
    ),
    "no queue sort": config(
        "profiles: [{plugins: {queueSort: {disabled: [{name: '*'}]}}}]",
        "only one queue sort plugin required",
        "profiles[0].plugins: enabled are none; leave exactly one enabled",
    ),
    "no bind": config(
        "profiles: [{plugins: {bind: {disabled: [{name: '*'}]}}}]", "at least one bind plugin is needed for profile"
    ),
    "an argument out of range": told(
        "InterPodAffinity", "{hardPodAffinityWeight: 101}", f"{_ARGS}.hardPodAffinityWeight: Invalid value: 101"
    ),
    "an unknown argument": told(
        "InterPodAffinity", "{hardPodAffinityWeigth: 1}", f'{_ARGS}.hardPodAffinityWeigth: did you mean "hardPodAffin'
    ),
    "an unknown strategy": told(
        "NodeResourcesFit",
        "{scoringStrategy: {type: Most}}",
        'initializing plugin "NodeResourcesFit": scoringStrategy.type: Unsupported value: "Most": supported values: ',
    ),
    "arguments that are a list": told("NodeResourcesFit", "[1]", "profiles[0].pluginConfig[0]", "found [1]"),
    "arguments twice": config(
        "profiles: [{pluginConfig: [{name: VolumeBinding}, {name: VolumeBinding}]}]",
        'profiles[0].pluginConfig[1]: Duplicate value: "VolumeBinding"',
    ),
    "a time-out that is none": config(
        "extenders: [{urlPrefix: 'http://x', httpTimeout: soon}]",
        'time: invalid duration "soon"\n  extenders[0].httpTimeout: a duration is a number with a unit',
    ),
}

OLDER: dict[str, tuple[str, tuple[str, ...]]] = {
    "an old version with an unknown field": config(
        "profiles: [{plugns: {}}]",
        'strict decoding error: unknown field "profiles[0].plugns"\n  profiles[0].plugns: did you mean "plugins"?',
        header=HEADER.replace("/v1", "/v1beta2"),
    ),
    "an old version with a wrong type": config(
        "profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: heavy}]}}}]",
        'profiles[0].plugins.score.enabled[0].weight: expected an integer, found "heavy"',
        header=HEADER.replace("/v1", "/v1beta1"),
    ),
    "a Policy with an unknown predicate": (
        "kind: Policy\napiVersion: v1\npredicates: [{name: PodFitsResource}]",
        ('predicate type not found for "PodFitsResource"', 'did you mean "PodFitsResources"?'),
    ),
    "a Policy with a wrong type": (
        '{"kind": "Policy", "apiVersion": "v1", "priorities": {}}',
        ("priorities: expected a list, found {}",),
    ),
    "a Policy that is not there": config(
        "algorithmSource: {policy: {file: {path: /etc/kubernetes/gone.json}}}",
        "missing policy config file /etc/kubernetes/gone.json",
        header=HEADER.replace("/v1", "/v1alpha1"),
    ),
}


def _cases(command: str, code: int) -> dict[str, Case]:
    """Each configuration given to a command; the file is named whatever is wrong in it."""
    return {
        name: Case(command, (*words, "\n  in config.yaml"), {"config.yaml": content}, code=code)
        for name, (content, words) in FINDINGS.items()
    }


CHECKED = _cases("config check config.yaml", 1)


def _loaded(command: str) -> dict[str, Case]:
    """The cases of a command that converts older versions, and looks for a configuration in other objects."""
    cases = _cases(command, 2)
    del cases["an old version"]
    words = ("config.yaml: no scheduler configuration: found Pod; expected a KubeSchedulerConfiguration",)
    return {**cases, "a pod": cases["a pod"]._replace(words=words)}


SHOWN = _loaded("config show config.yaml")
USED = _loaded("simulate cluster.json --config config.yaml") | {
    name: Case("simulate cluster.json --config c.yaml", (*words, "\n  in c.yaml"), {"c.yaml": content})
    for name, (content, words) in OLDER.items()
}

UNREADABLE = {
    "no configuration": Case("config check gone.yaml", ("open gone.yaml: no such file or directory",)),
    "no configuration to show": Case("config show gone.yaml", ("open gone.yaml: no such file or directory",)),
    "no configuration to use": Case("explain cluster.json --all --config gone.yaml", ("open gone.yaml: no such file",)),
    "a folder": Case("config check .", ("open .: is a directory",)),
    "binary": Case("config check c.yaml", ("c.yaml: not UTF-8 text: byte 1",), {"c.yaml": b"\x01\xff"}),
    "a packed configuration": Case(
        "config check c.yaml", ("c.yaml: not UTF-8 text",), {"c.yaml": gzip.compress(HEADER.encode())}
    ),
    "a plugin that does not load": Case("config check good.yaml --plugin gone.py:P", ("gone.py: no such file",)),
}
