"""A file of types of machines."""

import pytest

from kubesched.errors import InputError
from kubesched.planning import read_shapes

HEAD = b"name, cpu, memory, gpu, zone, arch, labels, taints, price, max\n"


def test_a_row_is_a_type_of_machine():
    (row,) = read_shapes(HEAD + b"g5.2xlarge, 7910m, 30Gi, 1, a;b, arm64, team=ml;x=, gpu=yes:NoSchedule, 1.2, 4")
    assert row.allocatable == {"cpu": "7910m", "memory": "30Gi", "nvidia.com/gpu": "1"}
    assert (row.zones, row.price, row.most) == (("a", "b"), 1.2, 4)
    assert row.labels == {"kubernetes.io/arch": "arm64", "team": "ml", "x": ""}
    assert [(taint.key, taint.value, taint.effect) for taint in row.taints] == [("gpu", "yes", "NoSchedule")]


def test_other_resources_are_columns():
    (row,) = read_shapes(b"name,cpu,memory,pods,amd.com/gpu\nm,1,1Gi,29,2\n")
    assert row.allocatable == {"cpu": "1", "memory": "1Gi", "pods": "29", "amd.com/gpu": "2"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "shapes: no column name; expected the columns name, cpu and memory"),
        (b"name,cpu\nx,1", "shapes: no column memory"),
        (b"name,cpu,memory\n", "shapes: no rows"),
        (b"name,cpu,memory,prize\nx,1,1Gi,2", "column 'prize' is not known"),
        (b"name,cpu,memory\nx,one,1Gi", "shapes: line 2: cpu: 'one' is not a quantity"),
        (b"name,cpu,memory\nx,1", "shapes: line 2: memory: '' is not a quantity"),
        (b"name,cpu,memory\nx,-1,1Gi", "shapes: line 2: cpu: found -1; expected 0 or more"),
        (b"name,cpu,memory,max\nx,1,1Gi,some", "line 2: max: 'some' is not a number"),
        (b"name,cpu,memory,taints\nx,1,1Gi,gpu", "line 2: 'gpu' is not a taint; write key=value:NoSchedule"),
        (b"name,cpu,memory,labels\nx,1,1Gi,gpu", "line 2: 'gpu' is not a label; write key=value"),
        (b"name,cpu,memory\nx,1,1Gi\nx,2,1Gi", "line 3: x is there twice"),
        (b"name,cpu,memory\n,1,1Gi", "line 2: no name"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, message):
    with pytest.raises(InputError) as raised:
        read_shapes(text)
    assert message in str(raised.value)
