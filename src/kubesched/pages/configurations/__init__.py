"""Pages about configurations: what is found in them, how two differ, and the plugins that they can refer to."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.pages.configurations.config_diff_page import config_diff_page as config_diff_page
    from kubesched.pages.configurations.finding_formats import (
        CheckedFile as CheckedFile,
        as_github as as_github,
        as_sarif as as_sarif,
        as_text as as_text,
        findings_page as findings_page,
    )
    from kubesched.pages.configurations.plugins_page import (
        described as described,
        plugin_page as plugin_page,
        plugins_page as plugins_page,
    )
