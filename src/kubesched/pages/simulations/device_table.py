"""The table of devices before and after a simulation: what there is by driver, class and model, and what is left."""

from collections.abc import Iterator, Sequence
from typing import Final

from kubesched.documents import listed, plural
from kubesched.pages.formats import Align, Cell, Column, Level, Row, Table
from kubesched.session import DeviceFill

_MOMENTS: Final = ("before", "after")


def device_table(
    fills: tuple[DeviceFill, ...], moments: tuple[str, str] = _MOMENTS, idle_claims: Sequence[str] = ()
) -> Table:
    """One row for each kind of device in ResourceSlices.

    Args:
        moments: what `before` and `after` of the fills are called.
        idle_claims: those that stay allocated although their pods fail.
    """
    is_any_shared = any(fill.before.shared or fill.after.shared for fill in fills)
    columns = (
        Column("driver"),
        Column("class"),
        Column("model"),
        Column("devices", align=Align.NUMBER),
        Column("taken", align=Align.NUMBER),
        Column("shared", align=Align.NUMBER, is_wide=not is_any_shared),
        Column("free", align=Align.NUMBER),
        Column("unusable", align=Align.NUMBER),
    )
    rows: list[Row] = []
    for fill in fills:
        before, after = fill.before, fill.after
        rows.append(
            [
                fill.driver,
                ", ".join(fill.classes) or "-",
                fill.model or "-",
                _change(before.n_devices, after.n_devices),
                _change(before.taken, after.taken),
                _change(before.shared, after.shared),
                _change(before.free, after.free, Level.PLAIN if after.free else Level.WARNING),
                _change(before.unusable, after.unusable, Level.BAD if after.unusable else Level.PLAIN),
            ]
        )
    title = f"Devices in ResourceSlices, {moments[0]} and {moments[1]}"
    return Table("devices", title, columns, rows, is_folded=True, notes=tuple(_of_idle(idle_claims)))


def _of_idle(claims: Sequence[str]) -> Iterator[str]:
    if claims:
        n, which = len(claims), listed(claims, first=4)
        them = plural(n, "it", "them")
        yield f"Taken without use: the devices of {plural(n, 'claim')} {which}. kube-scheduler leaves {them} allocated."


def _change(before: int, after: int, level: Level = Level.PLAIN) -> Cell:
    return Cell(f"{before} -> {after}" if before != after else str(after), after, level)
