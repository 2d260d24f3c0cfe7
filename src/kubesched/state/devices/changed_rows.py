"""Which rows have other pools, or other devices in use, since somebody looked last."""

from kubesched.state.columns import NodeColumns
from kubesched.state.devices.device_slices import DeviceSlices
from kubesched.state.devices.devices_in_use import DevicesInUse


class ChangedRows:
    """Reads the logs of slices and of what is in use together."""

    def __init__(self, columns: NodeColumns, slices: DeviceSlices, in_use: DevicesInUse) -> None:
        self._columns = columns
        self._slices, self._uses = slices.log, in_use.log
        self._generations = (-1, -1)

    def take(self) -> tuple[list[int], list[int]] | None:
        """Those with other pools, all of them where that is not known, and those with other uses; None for no change.

        A row may be that of a node that is gone.
        """
        generations = (self._slices.generation, self._uses.generation)
        if generations == self._generations:
            return None
        of_pools, of_uses = self._slices.since(self._generations[0]), self._uses.since(self._generations[1])
        self._generations = generations
        if of_pools is None or of_uses is None:
            return list(range(self._columns.n_rows)), []
        return of_pools, of_uses
