"""Pages about configurations: what is found in them, how two differ, and the plugins that they can refer to."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.pages.configurations.config_diff_page import config_diff_page
    from kubesched.pages.configurations.finding_formats import CheckedFile, as_github, as_sarif, as_text, findings_page
    from kubesched.pages.configurations.plugins_page import described, plugin_page, plugins_page

__all__ = [
    "CheckedFile",
    "as_github",
    "as_sarif",
    "as_text",
    "config_diff_page",
    "described",
    "findings_page",
    "plugin_page",
    "plugins_page",
]
