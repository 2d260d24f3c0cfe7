"""How much of a shared device's capacity a request consumes, as a quantity in the words of upstream.

Rule: kube-scheduler v1.36 DRAConsumableCapacity: an amount that is asked for is raised to what the policy allows; what
is not asked for is the policy's default, or else the whole capacity. Amounts of a range with steps are whole numbers,
written with suffixes of the kind that the step has; before v1.37 with binary ones. Others are written as they were.
"""

from functools import lru_cache
from typing import Final

from kubesched.api import (
    NANO,
    CapacityRange,
    CapacityRequestPolicy,
    DeviceCapacity,
    canonical_quantity,
    parse_quantity,
    whole_quantity,
)
from kubesched.release import DEFAULT_RELEASE, Release

Amount = str | int | float

_NO_POLICY: Final = CapacityRequestPolicy()


@lru_cache(maxsize=4096)
def consumed_of(capacity: DeviceCapacity, asked: Amount | None, release: Release = DEFAULT_RELEASE) -> str | None:
    """The amount of one capacity that a request consumes; None where the policy does not allow the request.

    Args:
        asked: by the request; None where it does not name the capacity.

    Example:
        policy = CapacityRequestPolicy(default="1Gi", valid_values=("1Gi", "4Gi"))
        assert consumed_of(DeviceCapacity("10Gi", policy), "2Gi") == "4Gi"
    """
    policy = capacity.request_policy or _NO_POLICY
    if asked is None:
        return canonical_quantity(capacity.amount if policy.default is None else policy.default)
    if policy.valid_values is not None:
        wanted = parse_quantity(asked)
        enough = [value for value in policy.valid_values if parse_quantity(value) >= wanted]
        return canonical_quantity(min(enough, key=parse_quantity)) if enough else None
    if policy.valid_range is not None:
        return _in_range(policy.valid_range, asked, release)
    return canonical_quantity(asked)


def _in_range(allowed: CapacityRange, asked: Amount, release: Release) -> str | None:
    text = canonical_quantity(asked)
    if allowed.min is not None and parse_quantity(asked) < parse_quantity(allowed.min):
        text = canonical_quantity(allowed.min)
    elif allowed.step is not None and (step := _whole(allowed.step)):
        least = _whole(allowed.min or 0)
        like = "1Ki" if release.before(37) else str(allowed.step)
        text = whole_quantity(least + -(-(_whole(asked) - least) // step) * step, like)
    is_too_much = allowed.max is not None and parse_quantity(text) > parse_quantity(allowed.max)
    return None if is_too_much else text


def _whole(amount: Amount) -> int:
    return -(-parse_quantity(amount) // NANO)
