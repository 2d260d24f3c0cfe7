"""Pages of a simulation: pod by pod, who is evicted, and how full the nodes are."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.pages.simulations.fill_tables import fill_level, fill_table, fill_words, nodes_table
    from kubesched.pages.simulations.placement_lines import placed_line, placement_line, report_document
    from kubesched.pages.simulations.simulation_page import report_page, summary_of, victims_table

__all__ = [
    "fill_level",
    "fill_table",
    "fill_words",
    "nodes_table",
    "placed_line",
    "placement_line",
    "report_document",
    "report_page",
    "summary_of",
    "victims_table",
]
