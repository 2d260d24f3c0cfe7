import msgspec
import pytest

from kubesched.api import Node, decode_object
from kubesched.documents import read_yaml
from kubesched.errors import ObjectError

LONG = "9" * 5000


@pytest.mark.parametrize("written", [LONG, f"-{LONG}", f'"{LONG}"'])
def test_a_quantity_of_thousands_of_digits_is_the_same_as_a_number_as_a_text_and_in_yaml(written: str) -> None:
    metadata = f'{{"name": "n", "annotations": {{"a": "[{LONG}]"}}}}'
    text = f'{{"metadata": {metadata}, "status": {{"allocatable": {{"cpu": {written}}}}}}}'
    node = decode_object("Node", text.encode())
    in_yaml = decode_object("Node", msgspec.json.encode(next(read_yaml(text.encode())).value))
    assert isinstance(node, Node)
    assert node == in_yaml
    assert node.annotations == {"a": f"[{LONG}]"}
    assert node.document["status"]["allocatable"] == {"cpu": written.strip('"')}


def test_a_count_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(ObjectError, match=r"^metadata\.generation: expected an integer"):
        decode_object("Node", f'{{"metadata": {{"name": "n", "generation": {LONG}}}}}'.encode())
