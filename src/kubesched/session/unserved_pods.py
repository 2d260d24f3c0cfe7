"""The pods that no profile serves, by the name of their scheduler: another scheduler's, or a misspelt profile's."""

from collections import Counter
from collections.abc import Collection, Iterable

import msgspec

from kubesched.api import Pod
from kubesched.scheduler import no_profile


class Unserved(msgspec.Struct, frozen=True, rename="camel"):
    """The pods with one spec.schedulerName that no profile has.

    Attributes:
        n_pods: how many they are.
        why: that no profile has the name, and the one that may be meant.
    """

    scheduler: str
    n_pods: int
    why: str


def unserved_pods(pods: Iterable[Pod], profiles: Collection[str]) -> tuple[Unserved, ...]:
    """The pods that have not ended and that no profile serves, most pods first.

    Args:
        profiles: the names of the profiles.
    """
    known = (pod.scheduler_name for pod in pods if not pod.is_finished)
    counts = Counter(name for name in known if name not in profiles)
    return tuple(Unserved(name, n, no_profile(name, profiles)) for name, n in counts.most_common())
