"""The page of `kubesched devices`: what there is by driver, class and model, and each device with who has it."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from kubesched.api import in_words, whole_units
from kubesched.documents import count, listed
from kubesched.pages.formats import (
    Align,
    Cell,
    Column,
    Level,
    Page,
    Paragraph,
    Row,
    Table,
    age_sentence,
    fields,
    page_of,
    plain,
)
from kubesched.planning import DeviceList
from kubesched.session import DeviceFill, DeviceState, DeviceUse

_MOST_NAMED: Final = 3
_OF_PLUGIN: Final = "device plugin"
_NONE: Final = "-"
_N_NAMES: Final = 4
"""What says which device it is: node, driver, pool and device."""
_LEVELS: Final = {
    DeviceState.FREE: Level.GOOD,
    DeviceState.SHARED: Level.GOOD,
    DeviceState.TAKEN: Level.PLAIN,
    DeviceState.UNUSABLE: Level.BAD,
}


@page_of.register
def devices_page(answer: DeviceList, *, now: datetime | None = None) -> Page:
    """The page.

    Args:
        now: the present, for the age of the snapshot.
    """
    document = _document(answer)
    return Page(
        "devices",
        Paragraph(_verdict(answer)),
        (_kinds(answer), _each(answer), *_beside(answer)),
        limits=() if answer.taken_at is None else (f"The {age_sentence(answer.taken_at, now)}.",),
        document=document,
        lines=document["devices"],
        data=_data(answer),
    )


def _verdict(answer: DeviceList) -> str:
    if not answer.devices and not answer.plugins:
        return "No node has devices, neither in ResourceSlices nor of a device plugin."
    counted = Counter(device.state for device in answer.devices)
    parts = []
    if answer.devices:
        states = [f"{counted[state]} {state.value}" for state in DeviceState if counted[state]]
        parts.append(f"{count(len(answer.devices), 'device')} in ResourceSlices: {', '.join(states)}")
    if answer.plugins:
        offered = sum(one.n_devices for one in answer.plugins)
        taken = sum(one.n_taken for one in answer.plugins)
        parts.append(f"{count(offered, 'device')} of device plugins: {max(0, offered - taken)} free, {taken} taken")
    return f"{'; '.join(parts)}."


def _kinds(answer: DeviceList) -> Table:
    """A row for each kind of device."""
    columns = (
        Column("driver"),
        Column("class"),
        Column("model"),
        Column("nodes", align=Align.NUMBER),
        Column("devices", align=Align.NUMBER),
        Column("free", align=Align.NUMBER),
        Column("shared", align=Align.NUMBER, is_wide=not any(fill.after.shared for fill in answer.kinds)),
        Column("taken", align=Align.NUMBER),
        Column("unusable", align=Align.NUMBER),
        Column("pods", "HELD BY"),
    )
    rows: list[Row] = [_kind_row(fill, answer) for fill in answer.kinds]
    for one in answer.plugins:
        n_free = max(0, one.n_devices - one.n_taken)
        pods = listed(one.pods, _MOST_NAMED) or _NONE
        rows.append([_OF_PLUGIN, one.resource, "-", one.n_nodes, one.n_devices, n_free, 0, one.n_taken, 0, pods])
    return Table("kinds", "", columns, rows)


def _kind_row(fill: DeviceFill, answer: DeviceList) -> Row:
    kind, counts = (fill.driver, fill.classes, fill.model), fill.after
    of_kind = [one for one in answer.devices if (one.driver, one.classes, one.model) == kind]
    nodes = {node for one in of_kind for node in one.nodes}
    pods = dict.fromkeys(pod for one in of_kind for pod in one.pods)
    return [
        fill.driver,
        ", ".join(fill.classes) or "-",
        fill.model or "-",
        len(nodes),
        counts.n_devices,
        counts.free,
        counts.shared,
        counts.taken,
        Cell(str(counts.unusable), counts.unusable, Level.BAD if counts.unusable else Level.PLAIN),
        listed(pods, _MOST_NAMED) if pods else "-",
    ]


def _each(answer: DeviceList) -> Table:
    """A row for each device, without the columns that none of them has."""
    table = _data(answer)
    columns = (table.columns[0], Column("device"), *table.columns[_N_NAMES:])
    rows = [[row[0], _short_name(one), *row[_N_NAMES:]] for one, row in zip(answer.devices, table.rows, strict=True)]
    shown = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    return Table(
        "devices",
        "Every device:",
        tuple(columns[i] for i in shown),
        [[row[i] or _NONE for i in shown] for row in rows],
        notes=_note_on_names(answer),
        is_wide=True,
    )


def _data(answer: DeviceList) -> Table:
    """A row for each device, for programs."""
    columns = (
        Column("node", align=Align.NODE),
        Column("driver"),
        Column("pool"),
        Column("device"),
        Column("state"),
        Column("class"),
        Column("model"),
        Column("why"),
        Column("pods"),
        Column("claims"),
        Column("used"),
    )
    rows: list[Row] = [
        [
            one.nodes[0] if len(one.nodes) == 1 else count(len(one.nodes), "node"),
            one.driver,
            one.pool,
            one.device,
            Cell(one.state.value, level=_LEVELS[one.state]),
            ", ".join(one.classes),
            one.model,
            one.why,
            ", ".join(one.pods),
            ", ".join(one.claims),
            _used(one),
        ]
        for one in answer.devices
    ]
    return Table("devices", "", columns, rows)


def _short_name(device: DeviceUse) -> str:
    """The device with its driver, and with its pool unless that has the name of the node."""
    pool = () if _is_of_node(device) else (device.pool,)
    return "/".join((device.driver, *pool, device.device))


def _is_of_node(device: DeviceUse) -> bool:
    return device.nodes == (device.pool,)


def _note_on_names(answer: DeviceList) -> tuple[str, ...]:
    if not any(map(_is_of_node, answer.devices)):
        return ()
    return ("DEVICE is driver/pool/device; a pool with the name of its node is left out.",)


def _used(device: DeviceUse) -> str:
    """What claims consume of a device that is shared: `memory 10Gi of 40Gi`."""
    return ", ".join(
        f"{name.rpartition('/')[2]} {_amount(amount)} of {_amount(device.capacity.get(name, 0))}"
        for name, amount in device.used.items()
    )


def _amount(nano: int) -> str:
    return in_words("memory", whole_units("", nano))


def _beside(answer: DeviceList) -> Iterator[Paragraph]:
    if reasons := Counter(one.why for one in answer.devices if one.why):
        named = [f"{why} ({count(n, 'device')})" for why, n in reasons.most_common()]
        yield Paragraph(f"Unusable: {listed(named, _MOST_NAMED)}.", Level.WARNING)
    if answer.n_elsewhere:
        yield Paragraph(
            f"Not counted: {count(answer.n_elsewhere, 'device')} of ResourceSlices that no node of the cluster can use."
        )
    if answer.waiting:
        n, waiting = len(answer.waiting), listed(answer.waiting, _MOST_NAMED)
        yield Paragraph(f"{count(n, 'claim')} without devices: {waiting}.", Level.WARNING)


def _document(answer: DeviceList) -> dict[str, Any]:
    return {
        "kinds": [_kind_document(fill) for fill in answer.kinds],
        "devices": [plain(one) for one in answer.devices],
        "plugins": [plain(one) for one in answer.plugins],
        "elsewhere": answer.n_elsewhere,
        "waiting": list(answer.waiting),
    }


def _kind_document(fill: DeviceFill) -> dict[str, Any]:
    return {
        **fields(fill, "driver", "classes", "model", "resources"),
        "devices": fill.after.n_devices,
        **plain(fill.after),
    }
