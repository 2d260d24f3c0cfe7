"""What is known of the pods of controllers."""

import pytest

from kubesched.controllers import ordinal_of
from kubesched.testing import make_pod


@pytest.mark.parametrize(
    ("name", "number"), [("web-0", 0), ("web-12", 12), ("web", -1), ("web-x", -1), (f"web-{'9' * 5000}", -1)]
)
def test_the_number_of_a_pod_is_at_the_end_of_its_name(name: str, number: int):
    assert ordinal_of(make_pod(name)) == number
