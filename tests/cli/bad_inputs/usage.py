"""Command lines that ask for what there is not."""

import json

from tests.cli.bad_inputs.case import Case
from tests.snapshot.builders import listed, node, pod

_ELSEWHERE = {**pod("web"), "metadata": {"name": "web", "namespace": "test"}}
_TWINS = json.dumps(listed(node("n1.eu.example"), node("n1.us.example"), pod("web"), _ELSEWHERE))
_HELP = "  Try: kubesched"

USAGE = {
    "an unknown command": Case("simulat x", ("No such command 'simulat'", _HELP)),
    "an unknown command of config": Case("config lint x", ("No such command 'lint'", f"{_HELP} config --help")),
    "no snapshot": Case("simulate", ("no cluster: found no kubeconfig", "or name a SNAPSHOT file")),
    "no configuration to check": Case("config check", ("Missing argument 'FILE...'", _HELP)),
    "an unknown option": Case("simulate cluster.json --fast", ("No such option '--fast'", _HELP)),
    "an unknown option of explain": Case("explain cluster.json --fast", ("No such option '--fast'", _HELP)),
    "an option without its value": Case("simulate cluster.json --config", ("'--config' requires an argument", _HELP)),
    "a flag with a value": Case("simulate cluster.json --fail-on-pending=3", ("does not take a value", _HELP)),
    "one argument too many": Case(
        "config diff good.yaml good.yaml x", ("expected one or two configurations, found 3", _HELP)
    ),
    "standard input twice": Case("config diff - -", ("A and B cannot both be standard input", _HELP)),
    "an unknown output of simulate": Case(
        "simulate cluster.json -o xml", ("'--output': 'xml' is not one of 'table', 'wide', 'json', 'jsonl',", _HELP)
    ),
    "an unknown output of explain": Case(
        "explain cluster.json --all -o xml", ("'--output': 'xml' is not one of 'table', 'wide', 'json', 'jsonl'", _HELP)
    ),
    "an unknown output of config check": Case(
        "config check good.yaml -o yaml", ("'yaml' is not one of 'text', 'table', 'wide', 'json'",)
    ),
    "an unknown output of config show": Case(
        "config show good.yaml -o table", ("'table' is not one of 'yaml', 'json'",)
    ),
    "an unknown output of plugins": Case("plugin list -o xml", ("'xml' is not one of 'table', 'wide', 'json',", _HELP)),
    "an unknown tie-break": Case(
        "simulate cluster.json --tie-break coin", ("'coin' is not one of 'upstream', 'first', 'random'", _HELP)
    ),
    "chance without a seed": Case("simulate cluster.json --tie-break random", ("--tie-break random needs --seed N",)),
    "a seed that is no number": Case("simulate cluster.json --seed x", ("'--seed': 'x' is not a valid integer", _HELP)),
    "an unknown profile": Case(
        "simulate cluster.json --profile batch",
        ("--profile batch: the configuration has no such profile; found: default-scheduler",),
    ),
    "a node without a pod": Case(
        "explain cluster.json --node n1", ("--node and --all-nodes need one pod: name it, such as shop/web-7", _HELP)
    ),
    "a pod of a namespace that is not there": Case(
        "explain cluster.json shp/web-1",
        ('no pod has the name "shp/web-1"; no pod is in namespace "shp"; did you mean "shop/web-1"?',),
    ),
    "a pod that begins like others": Case(
        "explain cluster.json web", ('no pod has the name "web"; did you mean "web-1" or "web-2"?',)
    ),
    "a workload that is not there": Case(
        "explain cluster.json deploy/api", ("deploy/api: the cluster has no Deployment api",)
    ),
    "a pod name that is nothing like those of its namespace": Case(
        "explain cluster.json --pod shop/newsvc",
        ('no pod has the name "shop/newsvc"; no pod of that namespace has a similar name; --manifest FILE adds pods',),
    ),
    "one pod and all of them": Case("explain cluster.json --all --pod shop/web-1", ("--all and --pod are mutually",)),
    "a pod that is not there": Case(
        "explain cluster.json --pod shop/web-3", ('no pod has the name "shop/web-3"; did you mean "shop/web-',)
    ),
    "a pod that is nothing like the others": Case(
        "explain cluster.json --pod zzz", ('no pod has the name "zzz"; write namespace/name',)
    ),
    "a pod without a name": Case("explain cluster.json --pod ''", ('no pod has the name ""; write namespace/name',)),
    "a pod of two namespaces": Case(
        "explain twins.json --pod web",
        ('several pods have the name "web": shop/web, test/web; write one of these',),
        {"twins.json": _TWINS},
    ),
    "a pod that no profile serves": Case(
        "explain foreign.json --pod shop/p1",
        ('pod shop/p1: no profile has the scheduler name "batch"; found: default-scheduler',),
        {"foreign.json": json.dumps(listed(node(), pod(schedulerName="batch")))},
    ),
    "a node that is not there": Case(
        "explain cluster.json --pod shop/web-1 --node worker", ("--node: no node has the name worker",)
    ),
    "nearly a node": Case(
        "explain twins.json --pod shop/web --node n1.eu.exmple",
        ('no node has the name n1.eu.exmple; did you mean "n1.eu.example"?',),
        {"twins.json": _TWINS},
    ),
    "a node of two domains": Case(
        "explain twins.json --pod shop/web --node n1",
        ("several nodes have the name n1; write the full name",),
        {"twins.json": _TWINS},
    ),
    "an unknown way to turn the table": Case(
        "explain cluster.json --pod shop/web-1 --by zone", ("'--by': 'zone' is not one of 'node', 'plugin'", _HELP)
    ),
}
