import pytest

from kubesched.api import in_words

GI = 1024**3


@pytest.mark.parametrize(
    ("resource", "amount", "words"),
    [
        ("cpu", 250, "250m"),
        ("cpu", 1500, "1.5"),
        ("cpu", 14000, "14"),
        ("cpu", 15890, "15.9"),
        ("cpu", 0, "0"),
        ("memory", 1536 * 1024**2, "1.5Gi"),
        ("memory", 100, "100"),
        ("memory", 900 * GI, "900Gi"),
        ("memory", -2 * GI, "-2Gi"),
        ("ephemeral-storage", 95 * GI, "95Gi"),
        ("hugepages-2Mi", 4 * 1024**2, "4Mi"),
        ("nvidia.com/gpu", 4, "4"),
        ("pods", 110, "110"),
    ],
)
def test_amounts_read_as_people_write_them(resource, amount, words):
    assert in_words(resource, amount) == words
