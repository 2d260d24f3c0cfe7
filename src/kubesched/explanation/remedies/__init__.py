"""Changes that may help a pod that fits nowhere, by the cause that keeps it from nodes. None has been tried."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.explanation.remedies.case import (
        ELSEWHERE as ELSEWHERE,
        OTHERS as OTHERS,
        Case as Case,
        Remedy as Remedy,
        is_equal as is_equal,
    )
    from kubesched.explanation.remedies.causes import Cause as Cause, causes as causes, without_gates as without_gates
    from kubesched.explanation.remedies.node_choice import corrected_and_tolerated as corrected_and_tolerated
    from kubesched.explanation.remedies.pools import pools as pools
    from kubesched.explanation.remedies.rollout_strategy import WAY_OUT as WAY_OUT, holds_old_pods as holds_old_pods
    from kubesched.explanation.remedies.taints import is_cordon_alone as is_cordon_alone, tainted as tainted
