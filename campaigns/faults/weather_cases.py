"""The weather that `compared` plays: an API server that is busy or sends nonsense; leases; stops; credentials."""

import json
import ssl
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from typing import Any

from aiohttp import web

from campaigns.faults.compared import Case, Stage
from campaigns.faults.fault import Fault
from kubesched.testing import make_pod
from tests.integration.api_client import ApiError
from tests.serving.certificates import Authority

Play = Callable[[Stage], str]

GONE = b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired","message":"old"}}\n'
ELECTION = {
    "leaderElect": True,
    "leaseDuration": "15s",
    "renewDeadline": "10s",
    "retryPeriod": "2s",
    "resourceName": "kubesched",
    "resourceNamespace": "kube-system",
}
SHORT = {"leaderElection": ELECTION | {"leaseDuration": "6s", "renewDeadline": "4s", "retryPeriod": "1s"}}
LONG = {"leaderElection": ELECTION}
GHOST: dict[str, Any] = {
    "metadata": {"name": "ghost", "namespace": "default", "uid": "ghost", "resourceVersion": "1"},
    "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "main", "image": "none"}]},
}
BOOKMARK = {"kind": "Pod", "apiVersion": "v1"}
POD, NODE = {"kind": "Pod", "apiVersion": "v1", **GHOST}, {"kind": "Node", "apiVersion": "v1", **GHOST}
NAMELESS = POD | {"metadata": {"namespace": "default"}}
MUCH = {"name": "main", "image": "none", "resources": {"requests": {"cpu": "much"}}}
GREEDY = POD | {"spec": {"schedulerName": "default-scheduler", "containers": [MUCH]}}
FULL = 2**31 - 1


def event(type: str, object: object) -> bytes:
    return json.dumps({"type": type, "object": object}).encode()


# --- the API server ---


def faulty(*faults: Fault, cuts: bool = False) -> Play:
    """A pod that comes while there are faults; with cuts, after all watches broke."""

    def play(stage: Stage) -> str:
        stage.start()
        stage.begin()
        for fault in faults:
            stage.proxy.make(replace(fault, made=0))
        if cuts:
            stage.proxy.cut_watches()
        return stage.place()

    return play


def busy(verb: str, resource: str, times: int, seconds: str = "1") -> Fault:
    return Fault(verb, resource, times=times, status=429, headers={"Retry-After": seconds})


def says(*lines: bytes, resource: str = "pods") -> Play:
    """A pod that comes after lines in the watch; and whether a pod that does not exist is bound."""

    def play(stage: Stage) -> str:
        stage.start()
        stage.begin()
        stage.proxy.say(resource, *lines)
        outcome = stage.place()
        time.sleep(1.0)
        ghosts = sum(1 for sent in stage.proxy.bindings if sent.pod == "ghost")
        return f"{outcome}, and {ghosts} Bindings of a ghost" if ghosts else outcome

    return play


def repeats(ending: bytes) -> Play:
    """Six seconds in which each watch says the same, and then a pod."""

    def play(stage: Stage) -> str:
        stage.start()
        version = stage.plane.client.get("Pod", "first")["metadata"]["resourceVersion"]
        same = event("BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": version}})
        stage.begin()
        stage.proxy.make(Fault("watch", "pods", status=200, body=same + b"\n" + ending))
        stage.proxy.cut_watches()
        time.sleep(6.0)
        n_watches = stage.count("watch", "pods")
        stage.proxy.calm()
        return f"{n_watches} watches in 6 s, then {stage.place()}"

    return play


# --- leases ---


def held(**spec: Any) -> Play:
    """A pod that comes when another holder has the Lease, which it does not renew."""

    def play(stage: Stage) -> str:
        body = {"metadata": {"name": "kubesched", "namespace": "kube-system"}, "spec": spec}
        path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
        stage.plane.client.call("POST", path, {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", **body})
        stage.launch(SHORT)
        return stage.place(patience=25)

    return play


def rewritten(**spec: Any) -> Play:
    """A pod that comes four seconds after somebody wrote into the Lease of the leader."""

    def play(stage: Stage) -> str:
        stage.start(SHORT)
        stage.plane.client.patch("Lease", "kubesched", {"spec": spec}, "kube-system")
        time.sleep(4.0)
        return stage.place(patience=8)

    return play


def stamp(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def stopped(n_bindings: int) -> Play:
    """200 pods, and SIGSTOP for 30 s at the n-th Binding: how many leave afterwards, with a lease of 6 s."""

    def play(stage: Stage) -> str:
        stage.start(SHORT)
        process, stops = stage.process, list[float]()
        assert process is not None

        def stop_in_time(phase: str, method: str, path: str) -> None:
            if len(stage.proxy.bindings) > n_bindings and not stops and path.endswith("/binding"):
                stops.append(time.time())
                process.send(SIGSTOP)

        stage.proxy.on_request = stop_in_time
        stage.plane.client.create_all([make_pod(f"pod-{n}") for n in range(200)])
        time.sleep(30.0)
        n_before = len(stage.proxy.bindings)
        process.send(SIGCONT)
        time.sleep(5.0)
        return f"{len(stage.proxy.bindings) - n_before} Bindings afterwards"

    return play


# --- credentials ---


class Credentials:
    """A pod that comes when credentials were replaced, and its scheduler five seconds later.

    Args:
        change: replaces them. Returns: what is replaced later.
        late: seconds until then.
    """

    def __init__(self, change: Callable[["Credentials", Stage], Callable[[], object]], late: float = 0.0) -> None:
        self._change = change
        self._late = late

    def tls(self, folder: Path) -> ssl.SSLContext:
        """What the proxy shows."""
        for name in ("old", "new"):
            (folder / name).mkdir()
        self.folder = folder
        self.old, self.new = Authority(folder / "old", "old"), Authority(folder / "new", "new")
        self.shown = self.old.server_context(self.old.issue("server", "localhost", "127.0.0.1"))
        self.shown.verify_mode = ssl.CERT_OPTIONAL
        self.shown.load_verify_locations(self.old.path)
        self.token, self.ca = folder / "token", folder / "ca.crt"
        self.token.write_text("first")
        self.ca.write_bytes(self.old.path.read_bytes())
        return self.shown

    def __call__(self, stage: Stage) -> str:
        stage.user, stage.cluster = {"tokenFile": str(self.token)}, {"certificate-authority": str(self.ca)}
        later = self._change(self, stage)
        if stage.process is None:
            stage.start(LONG)
            later()
            later = self._change(self, stage)
        stage.proxy.cut_connections()
        stage.plane.client.create(make_pod("pod"))
        time.sleep(self._late)
        later()
        outcome = stage.until_bound("pod")
        return f"{outcome} after {self._late:g} s" if self._late else outcome


def replaced(change: Callable[[Credentials, Stage], Callable[[], object]], late: float = 0.0) -> Credentials:
    def prepared(credentials: Credentials, stage: Stage) -> Callable[[], object]:
        return (lambda: None) if stage.process is None else change(credentials, stage)

    return Credentials(prepared, late)


def token(text: str) -> Callable[[Credentials, Stage], Callable[[], object]]:
    """Another token, and only this one is accepted; the first one as long as the text is not a token."""

    def change(credentials: Credentials, stage: Stage) -> Callable[[], object]:
        stage.proxy.accepts = bearer("first" if "\n" in text else text)
        return lambda: credentials.token.write_text(text)

    return change


def bearer(text: str) -> Callable[[web.Request], bool]:
    return lambda request: request.headers.get("Authorization") == f"Bearer {text}"


def authority(credentials: Credentials, stage: Stage) -> Callable[[], object]:
    credentials.shown.load_cert_chain(*credentials.new.issue("server", "localhost", "127.0.0.1"))
    return lambda: credentials.ca.write_bytes(credentials.new.path.read_bytes())


def serving(credentials: Credentials, stage: Stage) -> Callable[[], object]:
    credentials.shown.load_cert_chain(*credentials.old.issue("server", "localhost", "127.0.0.1", files="again"))
    return lambda: None


class Pair(Credentials):
    """The same with a client certificate. Half of it comes first, and its key twelve seconds later; or all at once.

    Args:
        is_half: the server accepts the old certificate as well then.
    """

    def __init__(self, *, is_half: bool) -> None:
        super().__init__(lambda _, stage: lambda: None)
        self._is_half = is_half

    def __call__(self, stage: Stage) -> str:
        certificate, key = self.folder / "client.crt", self.folder / "client.key"
        first, second = self.old.issue("ann", files="ann"), self.old.issue("bob", files="bob")
        certificate.write_bytes(first.certificate.read_bytes())
        key.write_bytes(first.key.read_bytes())
        stage.user = {"client-certificate": str(certificate), "client-key": str(key)}
        stage.cluster = {"certificate-authority": str(self.ca)}
        stage.proxy.accepts = named("ann")
        stage.start(LONG)
        stage.proxy.accepts = named("ann", "bob") if self._is_half else named("bob")
        certificate.write_bytes(second.certificate.read_bytes())
        if not self._is_half:
            key.write_bytes(second.key.read_bytes())
        stage.proxy.cut_connections()
        stage.plane.client.create(make_pod("pod"))
        outcome = stage.bound("pod", 12.0)
        if self._is_half:
            time.sleep(12.0)
            key.write_bytes(second.key.read_bytes())
        stage.plane.client.create(make_pod("next"))
        return f"{outcome}, the next one {stage.until_bound('next')}"


def named(*names: str) -> Callable[[web.Request], bool]:
    def accepts(request: web.Request) -> bool:
        shown = request.transport.get_extra_info("peercert") if request.transport else None
        found = {value for part in (shown or {}).get("subject", ()) for name, value in part if name == "commonName"}
        return bool(found.intersection(names))

    return accepts


def refused(play: Play) -> Play:
    """A Lease that the API server refuses to store."""

    def tried(stage: Stage) -> str:
        try:
            return play(stage)
        except ApiError as error:
            return f"the API server refuses it: {error.status}"

    return tried


CASES = [
    Case("watch of pods: 429 with Retry-After: 1, three times", faulty(busy("watch", "pods", 3), cuts=True)),
    Case("Binding: 429 with Retry-After: 1, four times", faulty(busy("create", "pods/binding", 4))),
    Case("Binding: 429 with Retry-After: 1, seven times", faulty(busy("create", "pods/binding", 7))),
    Case("Binding: 429 with Retry-After: 3600, once", faulty(busy("create", "pods/binding", 1, "3600"))),
    Case("Binding: 429 without Retry-After, three times", faulty(Fault("create", "pods/binding", times=3, status=429))),
    Case("watch of pods: 410, five times", faulty(Fault("watch", "pods", times=5, status=410), cuts=True)),
    Case(
        "watch of pods: 410 as an event, five times",
        faulty(Fault("watch", "pods", times=5, status=200, body=GONE), cuts=True),
    ),
    Case(
        "watch of pods: 410, then its lists, three times",
        faulty(
            Fault("watch", "pods", times=1, status=410),
            Fault("list", "pods", times=3, status=410),
            cuts=True,
        ),
    ),
    Case("in the watch of pods: HTML", says(b"<html>502 Bad Gateway</html>")),
    Case("in the watch of pods: half an object", says(b'{"type":"ADDED","object":{"kind":"Pod","apiVers')),
    Case("in the watch of pods: a Node", says(event("ADDED", NODE))),
    Case("in the watch of pods: a Pod of apiVersion v2", says(event("ADDED", POD | {"apiVersion": "v2"}))),
    Case("in the watch of pods: an unknown event type", says(event("PATCHED", POD))),
    Case(
        "in the watch of pods: a BOOKMARK without metadata",
        says(event("BOOKMARK", BOOKMARK)),
    ),
    Case("in the watch of pods: a pod without a name", says(event("ADDED", NAMELESS))),
    Case("in the watch of pods: a pod that requests `much`", says(event("ADDED", GREEDY))),
    Case("in the watch of nodes: a Pod", says(event("ADDED", POD), resource="nodes")),
    Case("in the watch of pods: a line of 100 MB", says(b"a" * 100_000_000)),
    Case("each watch repeats a bookmark and ends", repeats(b"")),
    Case("each watch repeats a bookmark, then HTML", repeats(b"<html>\n")),
    Case(
        "lease of 6 s, renewed in two hours",
        held(holderIdentity="x", leaseDurationSeconds=6, renewTime=stamp(2), acquireTime=stamp(2)),
    ),
    Case(
        "lease of 6 s, renewed two hours ago",
        held(holderIdentity="x", leaseDurationSeconds=6, renewTime=stamp(-2), acquireTime=stamp(-2)),
    ),
    Case("lease of 0 s", refused(held(holderIdentity="x", leaseDurationSeconds=0))),
    Case("lease without a duration", held(holderIdentity="x", renewTime=stamp(0), acquireTime=stamp(0))),
    Case("lease of 68 years", held(holderIdentity="x", leaseDurationSeconds=2**31 - 1)),
    Case("lease with full leaseTransitions", held(holderIdentity="", leaseDurationSeconds=6, leaseTransitions=FULL)),
    Case("the leader's lease is renewed in two hours", rewritten(renewTime=stamp(2), acquireTime=stamp(2))),
    Case("the leader's lease has 68 years", rewritten(leaseDurationSeconds=2**31 - 1)),
    Case("the leader's lease has another holder", rewritten(holderIdentity="thief")),
    Case("SIGSTOP for 30 s at the first Binding", stopped(1)),
    Case("SIGSTOP for 30 s at the 50th Binding", stopped(50)),
    Case("another token, and its file at once", replaced(token("second"))),
    Case("another token, and its file five seconds later", replaced(token("second"), 5.0)),
    Case("a token file with HTML", replaced(token("<html>\n<body>\n"))),
    Case("another authority, and its file at once", replaced(authority)),
    Case("another authority, and its file five seconds later", replaced(authority, 5.0)),
    Case("another serving certificate of the same authority", replaced(serving)),
    Case("another client certificate", Pair(is_half=False)),
    Case("another client certificate, whose key comes 12 s later", Pair(is_half=True)),
]
