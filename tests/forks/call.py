"""Asks the parent for a fork, hands it its own streams, and ends with the exit code of the fork.

Every command of a page starts it, so it imports little.
"""

import json
import os
import resource
import socket
import sys

with socket.socket(socket.AF_UNIX) as parent:
    parent.connect(sys.argv[1])
    call = {
        "folder": os.getcwd(),  # noqa: PTH109
        "environment": dict(os.environ),
        "file_size": resource.getrlimit(resource.RLIMIT_FSIZE),
        "arguments": sys.argv[2:],
    }
    socket.send_fds(parent, [b"\n"], [0, 1, 2])
    parent.sendall(json.dumps(call).encode() + b"\n")
    code = parent.recv(1)
sys.exit(code[0] if code else "the fork was killed")
