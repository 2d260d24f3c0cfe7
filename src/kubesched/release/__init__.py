"""Versions of Kubernetes, and the feature gates that each of them knows."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.release.deciding_version import (
        DEFAULT_VERSION as DEFAULT_VERSION,
        DecidingVersion as DecidingVersion,
        ReadingVersion as ReadingVersion,
        VersionSource as VersionSource,
    )
    from kubesched.release.feature_gate_table import (
        FeatureGate as FeatureGate,
        feature_gate as feature_gate,
        first_with as first_with,
        gates_needing_others as gates_needing_others,
        gates_of as gates_of,
        minors_with as minors_with,
    )
    from kubesched.release.known_versions import (
        DEFAULT_NUMBER as DEFAULT_NUMBER,
        KNOWN as KNOWN,
        KNOWN_NUMBERS as KNOWN_NUMBERS,
        RECORDED_DEFAULT as RECORDED_DEFAULT,
    )
    from kubesched.release.release import (
        DEFAULT_RELEASE as DEFAULT_RELEASE,
        RELEASES as RELEASES,
        Release as Release,
        numbers_of as numbers_of,
        release_of as release_of,
        releases_after as releases_after,
    )
    from kubesched.release.version_rules import KEPS as KEPS, changed_rules as changed_rules
