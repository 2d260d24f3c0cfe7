"""What earlier versions of kube-scheduler had: their configurations, which become v1, and the plugins that are gone.

The code behind this door is imported when a file asks for it: it is of a version before v1, or names such a plugin.
"""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.legacy.conversion import Conversion as Conversion
    from kubesched.legacy.plugins import LEGACY_PLUGINS as LEGACY_PLUGINS, legacy_plugin as legacy_plugin
    from kubesched.legacy.to_v1 import (
        OlderVersions as OlderVersions,
        convert_configuration as convert_configuration,
        is_older as is_older,
    )
