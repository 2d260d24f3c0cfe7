"""Pages of a simulation: pod by pod, who is evicted, and how full the nodes are."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.pages.simulations.device_table import device_table as device_table
    from kubesched.pages.simulations.gang_parts import (
        gang_checks as gang_checks,
        gang_document as gang_document,
        gang_words as gang_words,
        gangs_table as gangs_table,
        lost_gangs as lost_gangs,
        partly_placed as partly_placed,
    )
    from kubesched.pages.simulations.node_fill_tables import (
        fill_level as fill_level,
        fill_table as fill_table,
        fill_words as fill_words,
        nodes_table as nodes_table,
    )
    from kubesched.pages.simulations.placement_lines import (
        placed_line as placed_line,
        placement_line as placement_line,
        rejection as rejection,
        report_document as report_document,
    )
    from kubesched.pages.simulations.refused_replicas_parts import with_refused as with_refused
    from kubesched.pages.simulations.report_figure import report_figure as report_figure
    from kubesched.pages.simulations.simulation_page import (
        caveat_checks as caveat_checks,
        hands_of as hands_of,
        report_page as report_page,
        summary_of as summary_of,
        victims_table as victims_table,
    )
