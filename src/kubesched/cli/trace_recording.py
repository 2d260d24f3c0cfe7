"""`kubesched replay --record`: write what happens in a live cluster as a trace."""

from pathlib import Path
from typing import TYPE_CHECKING

from kubesched.cli.cluster import note
from kubesched.cli.inputs import InputOptions

if TYPE_CHECKING:
    from kubesched.capture import TraceRecorder
    from kubesched.cluster import Access


def record(inputs: InputOptions, target: Path, seconds: float | None, *, is_anonymous: bool) -> None:
    """Record until Ctrl-C, SIGTERM or some seconds have passed, and then write the file as a whole."""
    from kubesched.cluster import find_access
    from kubesched.errors import InputError
    from kubesched.signals import run_until_told
    from kubesched.snapshot import packed_writer, replacing
    from kubesched.traces import json_lines

    if not target.parent.is_dir():
        raise InputError(f"{target}: cannot be written: No such file or directory")
    access = find_access(inputs.kubeconfig, inputs.context or "")
    recorder = run_until_told(_recorded(access, seconds))
    trace = recorder.trace(is_anonymous=is_anonymous)
    with replacing(target) as file, packed_writer(file, target.suffix) as append:
        for line in json_lines(trace):
            append(line)
    for sentence in trace.notes:
        note(sentence)
    note(f"wrote {str(trace)[len('<Trace: ') : -1]} to {target}")


async def _recorded(access: "Access", seconds: float | None) -> "TraceRecorder":
    from kubesched.capture import record_trace
    from kubesched.cluster import ApiClient
    from kubesched.signals import ending_on_signals

    until = "until Ctrl-C" if seconds is None else f"for {seconds:g} s, or until Ctrl-C"
    with ending_on_signals() as ending:
        async with ApiClient(access, on_wait=note) as client:
            return await record_trace(client, ending.stop, seconds, lambda: note(f"recording {access.server} {until}"))
