"""The process that forks: `python -m tests.forks.parent SOCKET`. It prints a line when it takes calls."""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import resource
import runpy
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

import kubesched

STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


class Call(TypedDict):
    """What a new process is started with. The first argument is the program: kubesched or python."""

    folder: str
    environment: dict[str, str]
    file_size: tuple[int, int]
    arguments: list[str]


def import_all() -> None:
    for module in pkgutil.walk_packages(kubesched.__path__, "kubesched."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def serve(path: str) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    gc.freeze()  # or the first collection of a fork would copy every page
    signal.signal(signal.SIGCHLD, reap)
    while True:
        caller, _ = listener.accept()
        _, streams, *_ = socket.recv_fds(caller, 1, len(STREAMS))
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            end(caller, run(json.loads(caller.makefile().readline()), streams))
        caller.close()
        for stream in streams:
            os.close(stream)


def reap(*_: object) -> None:
    """Take the forks that ended. To ignore the signal would, too, but lose the CPU time of the forks."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end(caller: socket.socket, code: int) -> None:
    """Without the tidying up at the end of a process, which takes longer than most commands; but for worker processes,
    which would complain.
    """
    if "joblib.externals.loky" in sys.modules:
        threading._shutdown()
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    caller.sendall(bytes([code & 0xFF]))
    os._exit(0)


def run(call: Call, streams: list[int]) -> int:
    become(call, streams)
    try:
        match call["arguments"]:
            case ["kubesched", *words]:
                sys.argv = ["kubesched", *words]
                kubesched.cli.main()
            case [_, "-m", module, *words]:
                sys.path.insert(0, "")
                sys.argv = [module, *words]
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            case [_, "-c", program, *words]:
                sys.path.insert(0, "")
                sys.argv = ["-c", *words]
                exec(program, {"__name__": "__main__"})
            case [_, file, *words]:
                sys.path.insert(0, str(Path(file).parent))
                sys.argv = [file, *words]
                runpy.run_path(file, run_name="__main__")
    except SystemExit as ended:
        return exit_code(ended)
    except BaseException:  # noqa: BLE001 - of a test program
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def become(call: Call, streams: list[int]) -> None:
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["environment"])
    resource.setrlimit(resource.RLIMIT_FSIZE, call["file_size"])
    for number, (name, mode) in enumerate(STREAMS):
        os.dup2(streams[number], number)
        os.close(streams[number])
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def exit_code(ended: SystemExit) -> int:
    if ended.code is None or isinstance(ended.code, int):
        return ended.code or 0
    sys.stderr.write(f"{ended.code}\n")
    return 1


if __name__ == "__main__":
    import_all()
    serve(sys.argv[1])
