"""Conditions and prices: what is read, and what is refused."""

import pytest

from kubesched.comparison import Comparison, compare, failures, parse_conditions, read_prices
from kubesched.errors import InputError
from kubesched.pages.comparisons import comparison_page
from kubesched.pages.formats import as_text
from kubesched.testing import make_node, make_pod
from tests.comparison.small_clusters import empty_nodes


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """One pod placed, one left pending, no prices."""
    return compare(
        [*empty_nodes(1), make_pod("web", requests={"cpu": "3"}), make_pod("huge", requests={"cpu": "9"})], seeds=5
    )


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("pending>0", True),
        ("pending>1", False),
        ("pending>=1", True),
        ("pending<1", False),
        ("pending<=1", True),
        ("pending==1", True),
        ("pending!=1", False),
        ("cpuMedian>74%", True),
        ("cpuMedian>0.76", False),
        ("cpuGap<1500m", True),
        ("cpuGap<1", False),
        ("memoryGap>7Gi", True),
        ("pricePerHour>1", True),
    ],
)
def test_a_condition_that_holds_fails_the_check(comparison: Comparison, text: str, fails: bool):
    (why,) = failures(parse_conditions(text), comparison).values()
    assert bool(why) == fails


def test_the_reason_has_the_value_of_the_second_side(comparison: Comparison):
    assert failures(parse_conditions(" pending > 0 ,victims>0"), comparison) == {
        "pending>0": "pods pending: 1",
        "victims>0": "",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pendng>0", '"pendng" is not a figure; did you mean "pending"?'),
        ("zzz>0", '"zzz" is not a figure; expected one of placed, pending,'),
        ("pending", '"pending" is not a condition; expected for example pending>0'),
        ("pending>0,", '"" is not a condition'),
        ("pending>many", '"many" is not a value; expected for example 5'),
        ("pending>nan", '"nan" is not a value'),
        ("cpuGap>many", "expected for example 500m or 4"),
        ("memoryGap>many", "expected for example 16Gi"),
        ("skew>", "is not a condition"),
    ],
)
def test_a_wrong_condition_is_one_sentence(text: str, words: str):
    with pytest.raises(InputError) as raised:
        parse_conditions(text)
    assert words in str(raised.value)


def test_prices_are_read_from_yaml_and_json():
    assert read_prices(b"a: 1\nb: 0.5\n") == read_prices(b'{"a": 1, "b": 0.5}') == {"a": 1.0, "b": 0.5}


BOTH = {"a": {"on-demand": 0.5, "spot": 0.1}, "b": 1.0}


@pytest.mark.parametrize(
    "text",
    [
        "a: {on-demand: 0.5, spot: 0.1}\nb: 1\n",
        "a: {ON_DEMAND: 0.5, preemptible: 0.1}\nb: 1\n",
        "instanceType,capacityType,price\na,on-demand,0.5\na,spot,0.1\nb,,1\n",
        "Instance type,Lifecycle,Price per hour\na,SPOT,0.1\na,On Demand,0.5\nb,,1\n",
        "a,on-demand,0.5\na,spot,0.1\nb,,1\n",
    ],
)
def test_prices_by_capacity_type_are_read_from_yaml_and_csv(text: str):
    assert read_prices(text.encode()) == BOTH


def test_csv_may_have_a_column_for_each_capacity_type_or_none():
    assert read_prices(b"type,on demand,spot\na,0.5,0.1\nb,1,\n") == {**BOTH, "b": {"on-demand": 1.0}}
    assert read_prices(b"a,0.5\nb,1\n") == read_prices(b"type,price\na,0.5\nb,1\n") == {"a": 0.5, "b": 1.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: {spott: 1}", 'prices: a: "spott" is not a capacity type; did you mean "spot"?'),
        ("a: {}", "prices: a: {} is not a price"),
        ("type,cost\na,1", "prices: line 1: found type, cost; expected columns instanceType, capacityType"),
        ("type,price\na,much", 'prices: line 2: "much" is not a price'),
        ("type,price\na", "prices: line 2: found 1 cell"),
        ("type,price\na,nan", "prices: line 2: nan is not a price"),
        ("type,price\na,1\na,2", "prices: line 3: a has a price already"),
        ("type,capacityType,price\na,,1\na,spot,2", "prices: line 3: a has a price already"),
        ("", "prices: not a list of prices"),
        ("- a", "prices: not a list of prices"),
        ("a: much", "prices: a: 'much' is not a price; expected instance types"),
        ("a: true", "prices: a: True is not a price"),
        ("a: -1", "prices: a: -1 is not a price"),
        ("a: 1\na: 2", "prices: line 2: this instance type is there twice"),
        ("a: [", "prices: line"),
    ],
)
def test_wrong_prices_are_one_sentence(text: str, words: str):
    with pytest.raises(InputError) as raised:
        read_prices(text.encode())
    assert words in str(raised.value)


def priced(prices: dict[str, float]) -> Comparison:
    """Two nodes of type m6i.2xlarge and one of type x."""
    kinds = ("m6i.2xlarge", "m6i.2xlarge", "x")
    nodes = [make_node(f"n{i}", labels={"node.kubernetes.io/instance-type": kind}) for i, kind in enumerate(kinds)]
    return compare([*nodes, make_pod("web")], seeds=5, prices=prices)


def test_a_misspelt_instance_type_is_named_with_the_type_of_the_nodes():
    said = as_text(comparison_page(priced({"m6i.2xlarg": 0.43, "x": 1, "p5.48xlarge": 98})), 200)
    assert 'Prices: no node has the type m6i.2xlarg; did you mean "m6i.2xlarge"?' in said
    assert "p5.48xlarge" not in said


def test_other_types_of_a_long_price_list_are_not_misspelt():
    said = as_text(comparison_page(priced({"m6i.2xlarge": 0.43, "m6i.4xlarge": 0.86, "x": 1})), 200)
    assert "no node has the type" not in said


def test_without_a_price_of_any_node_there_is_no_price_per_hour():
    comparison = priced({"m6i.2xlarg": 0.43})
    assert not [one for one in comparison.differences if one.figure.name == "pricePerHour"]
    assert "No node has a price: m6i.2xlarge (2), x (1)." in as_text(comparison_page(comparison), 200)


def test_nodes_that_are_free_of_charge_have_a_price():
    comparison = priced({"m6i.2xlarge": 0, "x": 0})
    assert [one.a for one in comparison.differences if one.figure.name == "pricePerHour"] == [0]


def test_prices_count_the_nodes_in_use():
    nodes = [make_node(f"n{i}", labels={"node.kubernetes.io/instance-type": "x"}) for i in range(3)]
    comparison = compare([*nodes, make_pod("web")], seeds=5, prices={"x": 0.25})
    assert [one.b for one in comparison.differences if one.figure.name == "pricePerHour"] == [0.25]


def test_a_share_that_is_meant_as_a_percentage_is_refused():
    with pytest.raises(InputError, match=r'"85" is not a share; write 85% or 0.85'):
        parse_conditions("cpuP95>85")
    assert [one.limit for one in parse_conditions("cpuP95>1.2,cpuP95>0.85,cpuP95>250%")] == [1.2, 0.85, 2.5]
