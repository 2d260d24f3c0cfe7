"""All functions of expressions in one table."""

from typing import Final

from kubesched.cel.library.kubernetes_functions import KUBERNETES_FUNCTIONS
from kubesched.cel.library.list_functions import LIST_FUNCTIONS
from kubesched.cel.library.operators import OPERATORS
from kubesched.cel.library.optional_functions import OPTIONAL_FUNCTIONS
from kubesched.cel.library.standard_functions import STANDARD_FUNCTIONS
from kubesched.cel.library.string_functions import STRING_FUNCTIONS
from kubesched.cel.overloads import FunctionTable

FUNCTIONS: Final = FunctionTable(
    KUBERNETES_FUNCTIONS,
    LIST_FUNCTIONS,
    OPERATORS,
    OPTIONAL_FUNCTIONS,
    STANDARD_FUNCTIONS,
    STRING_FUNCTIONS,
)
