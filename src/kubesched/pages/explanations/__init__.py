"""Pages of explanations: one pod, one node, several pods, a group."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.pages.explanations.explanation_document import as_document as as_document, as_line as as_line
    from kubesched.pages.explanations.group_page import group_page as group_page
    from kubesched.pages.explanations.node_page import node_page as node_page
    from kubesched.pages.explanations.pod_page import explanation_page as explanation_page
    from kubesched.pages.explanations.pods_page import Rows as Rows, overview_page as overview_page
