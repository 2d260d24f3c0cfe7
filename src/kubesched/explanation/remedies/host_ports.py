"""Remedies for host ports that other pods hold: free them, or do without them."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import msgspec

from kubesched.api import SERVICE_OF_K3S, Container
from kubesched.documents import joined
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy, containers_edit, daemon_set, moved
from kubesched.plugins import WantedPorts
from kubesched.state import PodInfo, Port

_ANY: Final = "0.0.0.0"
_MAX_NODES: Final = 3
_MAX_SEARCHED: Final = 200  # nodes of which the one with the fewest holders of a port is taken


def ports(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Free the ports on the node where the fewest pods hold them; do without them."""
    mine = case.info.ports.value
    wanted = WantedPorts(mine)
    held: list[tuple[int, str, list[PodInfo], set[Port]]] = []
    for node in islice(case.at(where), _MAX_SEARCHED):
        clashes = [(info, port) for info in node.pods for port in filter(wanted.clash_with, info.ports.value)]
        holders = list({info.pod.uid: info for info, _ in clashes}.values())
        held.append((len(holders), node.name, holders, {port for _, port in clashes}))
    yield from islice(_freed(case, held), _MAX_NODES)
    clashing = {port for *_, taken in held for port in taken}
    if clashing:
        gone = frozenset(port for port in mine if any(map(WantedPorts((port,)).clash_with, clashing)))
        numbers = joined(str(number) for *_, number in sorted(gone))
        text = f"remove hostPort {numbers}"
        if is_service := (case.pod.name.startswith(SERVICE_OF_K3S) and daemon_set(case.pod)):
            service = case.pod.name.removeprefix(SERVICE_OF_K3S).rsplit("-", 2)[0]
            text = f"give the LoadBalancer Service {service} another port than {numbers}, or delete it"
        stay = bool(held) and all(any(daemon_set(info.pod) for info in holders) for _, _, holders, _ in held)
        effort = Effort.LOOSEN if stay or is_service else Effort.DROP
        yield Remedy(text, "hostPort", is_service, _without_ports(gone), effort=effort)


def _freed(case: Case, held: Iterable[tuple[int, str, list[PodInfo], set[Port]]]) -> Iterator[Remedy]:
    for _, name, holders, taken in sorted(held, key=lambda one: one[0]):
        text = f"free {_port_words(taken)} on {name}, held by {joined(info.pod.key for info in holders)}"
        yield from moved(case, text, "hostPort", holders)


def _port_words(which: Iterable[Port]) -> str:
    numbers = sorted({(number, protocol) for _, protocol, number in which})
    return f"host port {' and '.join(f'{number}/{protocol}' for number, protocol in numbers)}"


def _without_ports(gone: frozenset[Port]) -> Change:
    def freed(container: Container) -> Container:
        ports = tuple(
            msgspec.structs.replace(port, host_port=0)
            if (port.host_ip or _ANY, port.protocol or "TCP", port.host_port) in gone
            else port
            for port in container.ports or ()
        )
        return msgspec.structs.replace(container, ports=ports)

    return containers_edit(freed)
