"""`kubesched extender`, except that ten seconds of silence count as two minutes do.

    python tests/integration/impatient_extender.py --port PORT --plugin FILE.py:Class --kubeconfig FILE

It has just these options, and prints what the command prints.
"""

import argparse

from kubesched.cli.extender import _serve
from kubesched.cli.inputs import SetupOptions
from kubesched.extender import ExtenderOptions
from kubesched.serving import ServerOptions

SILENCE_SECONDS = 10.0  # longer than the test control plane takes to start again


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--plugin", action="append", required=True)
    parser.add_argument("--kubeconfig", required=True)
    args = parser.parse_args()
    options = ExtenderOptions(
        server=ServerOptions(port=args.port),
        is_watched=True,
        kubeconfig=args.kubeconfig,
        silence_seconds=SILENCE_SECONDS,
    )
    _serve(SetupOptions(references=tuple(args.plugin)), options, log_json=False)


if __name__ == "__main__":
    main()
