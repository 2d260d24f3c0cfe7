"""Make the smallest cluster around each pod that waits in the example clusters.

    python -m campaigns.around.campaign [CLUSTER ...]

CLUSTER is a name such as gke; without one, all are taken. Of each controller, the first pod that waits is taken. The
reasons and the kinds of the first three fixes have to be those in the whole cluster, and fewer than 20 objects have to
be left, or 150 of the shop. The exit code is 1 when this fails for a pod.
"""

import argparse
import sys
import time

from campaigns.around.smallest import CLUSTERS, faults, pending
from kubesched.snapshot import load_snapshot


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("clusters", nargs="*", metavar="CLUSTER", help=f"some of {', '.join(CLUSTERS)} (default: all)")
    chosen = p.parse_args().clusters or list(CLUSTERS)
    if unknown := set(chosen) - CLUSTERS.keys():
        p.error(f"no cluster named {', '.join(sorted(unknown))}; there are: {', '.join(CLUSTERS)}")
    n_wrong = 0
    for name in chosen:
        began, cluster = time.monotonic(), load_snapshot(CLUSTERS[name])
        pods = pending(cluster)
        wrong = [what for pod in pods for what in faults(name, cluster, pod.key)]
        title = f"{name}: {len(pods)} pods, {len(wrong)} faults, {time.monotonic() - began:.0f} s"
        print(title, *wrong, sep="\n  ", flush=True)
        n_wrong += len(wrong)
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
