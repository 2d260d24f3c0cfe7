"""What `kubesched extender` and its replay cannot serve, cannot reach or cannot read."""

from tests.cli.bad_inputs.case import HEADER, Case

_SERVE = "extender --port 0 --plugin team_zone.py:TeamZone"
_REPLAY = "extender replay rec --plugin team_zone.py:TeamZone"
_HELP = "  Try: kubesched extender --help"
_IMPORTS = "from kubesched import Plugin, Status\n"
_FIRST = '{"version":1}\n'


def plugin(text: str, *words: str, options: str = "") -> Case:
    """The class P in a file of its own."""
    return Case(f"extender --port 0 --plugin p.py:P {options}", words, {"p.py": _IMPORTS + text})


def profile(text: str, *words: str) -> Case:
    """A configuration with one profile."""
    return Case("extender --port 0 --config c.yaml", words, {"c.yaml": f"{HEADER}profiles:\n- {text}\n"})


def recording(text: str | bytes, *words: str) -> Case:
    return Case(_REPLAY, ("rec/recording.jsonl", *words), {"rec/recording.jsonl": text})


SERVED = {
    "no plugin": Case("extender", ("no plugin to serve: name one with --plugin FILE.py:Class, or enable some",)),
    "a configuration of defaults": Case("extender --config good.yaml", ("no plugin to serve", "--config")),
    "a configuration that names a plugin that is not there": profile(
        "plugins: {filter: {enabled: [{name: TeamZon}]}}", "profiles[0].plugins.filter", "TeamZon"
    ),
    "a configuration without end": Case("extender --config gone.yaml", ("open gone.yaml: no such file",)),
    "a plugin without a hook": plugin("class P(Plugin): pass\n", "p.py:P defines no extension point"),
    "a plugin that nobody asks": plugin(
        "class P(Plugin):\n    def post_filter(self, state, pod, diagnosis): return None, Status.unschedulable()\n",
        "P would never be called: kube-scheduler calls an extender for filter, score, preempt and bind",
    ),
    "a plugin that counts pods": plugin(
        "class P(Plugin):\n    def score(self, state, pod, node): return len(node.pods)\n",
        "plugin P reads the pods on nodes (score uses pods)",
        "start the extender with --kubeconfig, or --in-cluster",
    ),
    "a plugin that reads claims": plugin(
        'class P(Plugin):\n    reads = ("PersistentVolumeClaim",)\n    def score(self, state, pod, node): return 1\n',
        "plugin P reads PersistentVolumeClaim, which kube-scheduler's requests do not have",
    ),
    "a plugin that reads what there is not": plugin(
        'class P(Plugin):\n    reads = ("Frob",)\n    def score(self, state, pod, node): return 1\n',
        'p.py: line 2: P.reads: "Frob" is not a kind that kubesched reads',
    ),
    "a plugin that binds, without a cluster": plugin(
        "class P(Plugin):\n    def reserve(self, state, pod, node_name): return Status.SUCCESS\n",
        "binding needs the API server: start the extender with --kubeconfig",
        "(plugin P takes part in reserve)",
    ),
    "bind, without a cluster": Case(f"{_SERVE} --bind", ("binding needs the API server", "(--bind is given)")),
    "arguments that do not hold": Case(
        f"{_SERVE} --plugin-args TeamZone=args.yaml", ("args.yaml", "bonus"), {"args.yaml": "bonus: much"}
    ),
    "a kubeconfig that is not there": Case(
        f"{_SERVE} --kubeconfig gone", ("kubeconfig gone: cannot be read: No such file",)
    ),
    "a kubeconfig that is none": Case(
        f"{_SERVE} --kubeconfig k", ("kubeconfig k: expected an object, found a list",), {"k": "[1, 2]"}
    ),
    "a kubeconfig that does not parse": Case(f"{_SERVE} --kubeconfig k", ("kubeconfig k",), {"k": "a: [\n"}),
    "a kubeconfig without a cluster": Case(
        f"{_SERVE} --kubeconfig k", ("current-context",), {"k": "apiVersion: v1\nkind: Config\n"}
    ),
    "a context that is not there": Case(
        f"{_SERVE} --kubeconfig k --context prod", ("prod",), {"k": "apiVersion: v1\nkind: Config\n"}
    ),
    "no pod": Case(f"{_SERVE} --in-cluster", ("--in-cluster works only inside a pod",)),
    "two clusters": Case(f"{_SERVE} --in-cluster --kubeconfig k", ("--in-cluster and --kubeconfig are mutu", _HELP)),
    "a context of a pod": Case(f"{_SERVE} --in-cluster --context c", ("--in-cluster and --context are mutu", _HELP)),
    "a certificate without a key": Case(
        f"{_SERVE} --tls-cert-file c", ("--tls-cert-file and --tls-private-key-file need each other; give both", _HELP)
    ),
    "a certificate that is not there": Case(
        f"{_SERVE} --tls-cert-file c.pem --tls-private-key-file k.pem", ("c.pem: cannot be read (No such file",)
    ),
    "a certificate that is none": Case(
        f"{_SERVE} --tls-cert-file c --tls-private-key-file k", ("c: has no CERTIFICATE block",), {"c": "x", "k": "x"}
    ),
    "clients without a certificate of ours": Case(
        f"{_SERVE} --client-ca-file ca", ("--client-ca-file needs --tls-cert-file and --tls-private-key-file", _HELP)
    ),
    "clients by name alone": Case(f"{_SERVE} --client-cn x", ("--client-cn needs --client-ca-file", _HELP)),
    "a client without a name": Case(
        f"{_SERVE} --client-cn ''",
        ("'--client-cn': found ''; give the common name of a client certificate, such as system:kube-scheduler", _HELP),
    ),
    "a resource that no extender manages": Case(
        f"{_SERVE} --managed-resource cpu",
        (
            '--managed-resource: Invalid value: "cpu": is an invalid extended resource name',
            "an extended resource has a domain that is not Kubernetes' own, such as example.com/gpu",
        ),
    ),
    "a resource that is managed twice": Case(
        f"{_SERVE} --managed-resource a.b/c --managed-resource a.b/c=ignored",
        ('--managed-resource: Invalid value: "a.b/c": duplicate extender managed resource name',),
    ),
    "a resource without a name": Case(
        f"{_SERVE} --managed-resource =ignored",
        ('--managed-resource: Invalid value: "": name part must be non-empty',),
    ),
    "a resource that is treated oddly": Case(
        f"{_SERVE} --managed-resource a.b/c=free",
        (
            "'--managed-resource': found 'a.b/c=free'; write NAME or NAME=ignored, such as example.com/gpu=ignored",
            _HELP,
        ),
    ),
    "a port that is none": Case("extender --port 70000", ("'--port': 70000 is not in the range 0<=x<=65535", _HELP)),
    "a host that is none": Case(f"{_SERVE} --host 'no such host'", ("'no such host'", "nor a name that resolves")),
    "a host of somebody else": Case(f"{_SERVE} --host 192.0.2.1", ("192.0.2.1", "not an address of this machine")),
    "a duration that is none": Case(
        f"{_SERVE} --http-timeout soon", ("'--http-timeout': 'soon' is not a duration; write it like 5s, 500ms", _HELP)
    ),
    "a duration of nothing": Case(f"{_SERVE} --http-timeout 0", ("'0' must be more than 0", _HELP)),
    "a duration that goes back": Case(f"{_SERVE} --drain=-5s", ("'-5s' must be more than 0", _HELP)),
    "a duration of odd digits": Case(f"{_SERVE} --drain ²", ("'²' is not a duration", _HELP)),
    "a duration without end": Case(f"{_SERVE} --drain {'9' * 400}", ("is not a duration", _HELP)),
    "an unknown way out": Case(f"{_SERVE} --on-timeout wait", ("'wait' is not one of 'error', 'allow'", _HELP)),
    "a recording over another": Case(
        f"{_SERVE} --record rec", ("--record rec: recording.jsonl already exists",), {"rec/recording.jsonl": _FIRST}
    ),
    "a recording into a file": Case(f"{_SERVE} --record good.yaml", ("--record good.yaml: not a folder",)),
    "a recording below a file": Case(f"{_SERVE} --record good.yaml/rec", ("--record good.yaml/rec: Not a directory",)),
    "an unknown subcommand": Case("extender play", ("No such command 'play'", _HELP)),
    "options before the subcommand": Case(
        "extender --plugin team_zone.py:TeamZone replay rec",
        ("--plugin is before replay; write options of replay after it", _HELP),
    ),
}

REPLAYED = {
    "no recording named": Case("extender replay", ("Missing argument 'RECORDING'",)),
    "no recording": Case(_REPLAY, ("rec: no such file or directory; a recording is made with --record",)),
    "a folder without a recording": Case(
        _REPLAY, ("rec/recording.jsonl: no such file", "--record"), {"rec/other.txt": "x"}
    ),
    "an empty recording": Case(_REPLAY, ("rec: the recording is empty",), {"rec/recording.jsonl": ""}),
    "a recording that was cut at once": Case(_REPLAY, ("rec: the recording is empty",), {"rec/recording.jsonl": "{"}),
    "what is no recording": recording("hello\n", ":1: JSON is malformed"),
    "a list": recording("[]\n", ":1: expected an object, found []"),
    "binary": recording(b"\xff\xfe\n", ":1: "),
    "another version": recording('{"version":9}\n', ":1: not a recording of version 1"),
    "a broken line": recording(f"{_FIRST}{{}}\n{{]\n", ":3: JSON is malformed"),
    "a call that is none": recording(f'{_FIRST}{{"call":{{"path":"/filter"}}}}\n', ":2: call.status: Required value"),
    "a body that is no base64": recording(
        f'{_FIRST}{{"call":{{"path":"/filter","status":200,"request_base64":"a"}}}}\n', ":2: "
    ),
    "an event of an unknown kind": recording(
        f'{_FIRST}{{"event":{{"type":"ADDED","kind":"Frob","object":{{}}}}}}\n',
        ':2: "Frob" is not a kind that kubesched reads',
    ),
    "an event of a nameless node": recording(
        f'{_FIRST}{{"event":{{"type":"ADDED","kind":"Node","object":{{}}}}}}\n', ":2: metadata.name is missing"
    ),
    "a recording without a watch for a plugin that needs one": Case(
        "extender replay rec --plugin p.py:P",
        ("plugin P reads the pods on nodes",),
        {
            "rec/recording.jsonl": _FIRST,
            "p.py": f"{_IMPORTS}class P(Plugin):\n    def score(self, state, pod, node): return len(node.pods)\n",
        },
    ),
    "no plugin to play against": Case(
        "extender replay rec", ("no plugin to serve",), {"rec/recording.jsonl": f"{_FIRST}"}
    ),
}
