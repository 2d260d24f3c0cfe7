"""All functions of expressions in one table."""

from typing import Final

from kubesched.cel.library.conversions import CONVERSIONS
from kubesched.cel.library.kubernetes_functions import KUBERNETES_FUNCTIONS
from kubesched.cel.library.list_functions import LIST_FUNCTIONS
from kubesched.cel.library.name_formats import NAME_FORMATS
from kubesched.cel.library.network_functions import NETWORK_FUNCTIONS
from kubesched.cel.library.operators import OPERATORS
from kubesched.cel.library.optional_functions import OPTIONAL_FUNCTIONS
from kubesched.cel.library.pattern_functions import PATTERN_FUNCTIONS
from kubesched.cel.library.string_functions import STRING_FUNCTIONS
from kubesched.cel.library.time_functions import TIME_FUNCTIONS
from kubesched.cel.overloads import FunctionTable

FUNCTIONS: Final = FunctionTable(
    CONVERSIONS,
    KUBERNETES_FUNCTIONS,
    LIST_FUNCTIONS,
    NAME_FORMATS,
    NETWORK_FUNCTIONS,
    OPERATORS,
    OPTIONAL_FUNCTIONS,
    PATTERN_FUNCTIONS,
    STRING_FUNCTIONS,
    TIME_FUNCTIONS,
)
