"""What pods that are resized in place hold, as the plugins of v1.36.3 and v1.37.2 count it, in MiB of memory."""

import pytest

from kubesched.api import PodRequests
from kubesched.release import Release
from kubesched.testing import make_pod

INFEASIBLE = ({"type": "PodResizePending", "status": "True", "reason": "Infeasible"},)


def container(name, memory, **more):
    return {"name": name, "image": "x", "resources": {"requests": {"memory": f"{memory}Mi"}}, **more}


def status(name, used=None, given=None):
    found = {"name": name}
    if used is not None:
        found["resources"] = {"requests": {"memory": f"{used}Mi"}}
    if given is not None:
        found["allocatedResources"] = {"memory": f"{given}Mi"}
    return found


A, B = container("a", 1024), container("b", 2048)
SIDECAR = container("s", 1024, restartPolicy="Always")

# name: (containers, init containers, statuses, statuses of init containers, is infeasible), (v1.36.3, v1.37.2)
RECORDED = {
    "not resized": (([A, B], [], [], [], False), (3072, 3072)),
    "infeasible, no status": (([A, B], [], [], [], True), (3072, 0)),
    "infeasible, one status": (([A, B], [], [status("a", 512, 512)], [], True), (2560, 512)),
    "infeasible, used more": (([A, B], [], [status("a", 512, 256), status("b", 256, 3072)], [], True), (3584, 3328)),
    "both used more and less": (
        ([A, B], [], [status("a", 4096, 256), status("b", 256, 3072)], [], False),
        (7168, 4352),
    ),
    "one up, one down": (
        (
            [container("a", 4096), container("b", 1024)],
            [],
            [status("a", 1024, 1024), status("b", 4096, 4096)],
            [],
            False,
        ),
        (8192, 5120),
    ),
    "one without a status": (([A, B], [], [status("a", 4096, 4096)], [], False), (6144, 6144)),
    "given alone": (
        ([A, container("b", 1024)], [], [status("a", None, 4096), status("b", None, 1024)], [], False),
        (2048, 5120),
    ),
    "sidecar up, container down": (
        ([container("a", 4096)], [SIDECAR], [status("a", 1024, 1024)], [status("s", 4096, 4096)], False),
        (8192, 5120),
    ),
    "init container with a status": (
        ([A], [container("i", 3072)], [status("a", 2048, 2048)], [status("i", 6144, 6144)], False),
        (3072, 6144),
    ),
    "peak": (
        (
            [A],
            [SIDECAR, container("i", 5120)],
            [status("a", 1024, 1024)],
            [status("s", 4096, 4096), status("i", 1024, 1024)],
            False,
        ),
        (9216, 6144),
    ),
}


@pytest.mark.parametrize(("read", "recorded"), RECORDED.values(), ids=RECORDED)
def test_a_resized_pod_holds_what_was_recorded(read, recorded):
    containers, init, statuses, init_statuses, is_infeasible = read
    pod = make_pod(
        "p",
        spec={"containers": containers, "initContainers": init},
        status={
            "containerStatuses": statuses,
            "initContainerStatuses": init_statuses,
            "conditions": INFEASIBLE if is_infeasible else (),
        },
    )
    held = [PodRequests(pod, Release(minor)).held.get("memory", 0) >> 20 for minor in (36, 37)]
    assert tuple(held) == recorded
