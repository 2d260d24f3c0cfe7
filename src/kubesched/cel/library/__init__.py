"""The functions of expressions, a file for each library."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.cel.library.costs import (
        BUDGET as BUDGET,
        cost_of_sorting as cost_of_sorting,
        out_of_budget as out_of_budget,
        size_of as size_of,
    )
    from kubesched.cel.library.every_function import FUNCTIONS as FUNCTIONS
    from kubesched.cel.library.list_functions import (
        ORDERED_TYPES as ORDERED_TYPES,
        SORT_BY_KEYS as SORT_BY_KEYS,
        sorted_by as sorted_by,
    )
    from kubesched.cel.library.text_format import check_clause as check_clause, clauses as clauses
    from kubesched.cel.library.time_texts import parse_moment as parse_moment, parse_span as parse_span
