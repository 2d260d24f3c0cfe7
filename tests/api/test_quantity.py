"""Quantities are read exactly, and rounded as kube-scheduler does."""

import math
import re
import sys
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import MAX_INT64, bytes_of, cpu_millis, in_words, parse_quantity, whole_units
from kubesched.errors import QuantityError

POWERS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {letter + "i": 1024**power for power, letter in enumerate("KMGTPE", 1)}

NUMBERS = st.from_regex(r"(0{0,3}[0-9]{1,12}\.?[0-9]{0,12}|\.[0-9]{1,12})", fullmatch=True)
DECIMAL = st.sampled_from(sorted(POWERS)) | st.builds("{}{}".format, st.sampled_from("eE"), st.integers(-15, 5))


def exact(number: str, suffix: str) -> Fraction:
    if suffix in BINARY:
        return min(Fraction(number) * BINARY[suffix], Fraction(MAX_INT64))
    power = POWERS[suffix] if suffix in POWERS else int(suffix[1:])
    return Fraction(number) * Fraction(10) ** power


@given(NUMBERS, DECIMAL | st.sampled_from(sorted(BINARY)))
def test_a_quantity_is_its_exact_value_rounded_up_to_billionths(number: str, suffix: str) -> None:
    assert parse_quantity(number + suffix) == math.ceil(exact(number, suffix) * 10**9)


@given(NUMBERS, DECIMAL)
def test_a_negative_quantity_is_rounded_away_from_zero(number: str, suffix: str) -> None:
    assert parse_quantity(f"-{number}{suffix}") == -parse_quantity(number + suffix)
    assert parse_quantity(f"+{number}{suffix}") == parse_quantity(number + suffix)


@given(NUMBERS, st.sampled_from(["n", "u", "m", "", "k", "Ki", "Mi"]))
def test_whole_units_are_rounded_up(number: str, suffix: str) -> None:
    value, nano = exact(number, suffix), parse_quantity(number + suffix)
    if value * 1000 <= MAX_INT64:
        assert whole_units("cpu", nano) == math.ceil(value * 1000)
        assert whole_units("memory", nano) == math.ceil(value)


@pytest.mark.parametrize(("written", "nano"), [(2, 2 * 10**9), (0.5, 5 * 10**8), (1e3, 10**12), ("0.0000000001", 1)])
def test_numbers_count_like_texts(written: str | float, nano: int) -> None:
    assert parse_quantity(written) == nano


# What kube-scheduler v1.36.3 makes of amounts that int64 cannot hold, found by bisecting the nodes that one fits.
@pytest.mark.parametrize(
    ("text", "resource", "units"),
    [
        ("9223372036854775807", "memory", MAX_INT64),
        ("9223372036854775808", "memory", -(2**63)),
        ("20000000000000000000", "memory", 1553255926290448384),
        ("99999999999999999999999", "memory", 200376420520689663),
        ("12345678901234567890", "cpu", 4807115922877858896),
        ("18.500000000000000000E", "memory", 53255926290448384),
        ("8Ei", "memory", MAX_INT64),
        ("10000Pi", "memory", MAX_INT64),
        ("9Ei", "cpu", -1000),
        ("10E", "memory", 0),
        ("0018.5E", "memory", 0),
        ("18446744073709600T", "memory", 0),
        ("184467440737e8", "memory", 0),
        ("18446744073709552k", "memory", 384),
        ("18446744073709600e3", "memory", 48384),
        ("18446744074G", "memory", 290448384),
        ("18446744073709552", "cpu", 384),
        ("18446744.074G", "cpu", 290448384),
        ("18446744073710k", "cpu", 448384),
        ("1844674407370956e1", "cpu", 0),
        ("18446744.1e15", "cpu", 0),
        ("20E", "cpu", 0),
    ],
)
def test_an_amount_beyond_int64_becomes_what_upstream_makes_of_it(text: str, resource: str, units: int) -> None:
    assert whole_units(resource, parse_quantity(text)) == units


def test_sums_beyond_int64_lose_their_upper_bits() -> None:
    assert whole_units("memory", parse_quantity("10E") + parse_quantity("8446744073709551617")) == 1
    assert whole_units("cpu", parse_quantity("9Ei") + parse_quantity("1001m")) == 1


@given(NUMBERS, DECIMAL | st.sampled_from(sorted(BINARY)), st.sampled_from(["cpu", "memory"]))
def test_whole_units_always_fit_int64(number: str, suffix: str, resource: str) -> None:
    assert -(2**63) <= whole_units(resource, parse_quantity(number + suffix)) <= MAX_INT64


@pytest.mark.parametrize("text", ["", " ", "1,5", "1.5.2", "one", "--1", "1e", "0x10", "."])
def test_what_is_no_quantity_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(QuantityError, match=re.escape(f"{text!r} is not a quantity; write a number")):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("4GB", '"4G" or "4Gi"'),
        ("512mb", '"512M" or "512Mi"'),
        ("4g", '"4G" or "4Gi"'),
        ("1.5 GiB", '"1.5Gi"'),
        ("64KB", '"64k" or "64Ki"'),
        ("64K", '"64k" or "64Ki"'),
        ("2gi", '"2Gi"'),
        ("250 m", '"250m"'),
        ("256 Mi", '"256Mi"'),
        ("1.5 G", '"1.5G"'),
        ("1 ", '"1"'),
    ],
)
def test_a_unit_of_another_spelling_is_answered_with_those_of_kubernetes(text: str, meant: str) -> None:
    with pytest.raises(QuantityError, match=re.escape(f"{text!r} is not a quantity; did you mean {meant}?")):
        parse_quantity(text)


@pytest.mark.parametrize("text", ["GB", "4 cores", "B", "4B", "four GB", "--4GB"])
def test_what_is_not_nearly_a_quantity_gets_an_example(text: str) -> None:
    with pytest.raises(QuantityError, match="write a number with an optional suffix"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1e10000000", "'e10000000' is out of range: the exponent of a quantity has at most 7 digits"),
        ("1E-999999999", "'E-999999999' is out of range: the exponent of a quantity has at most 7 digits"),
        ("1e+" + "9" * 5000, f"'e+{'9' * 38}...' is out of range: the exponent of a quantity has at most 7 digits"),
    ],
)
def test_an_exponent_that_no_api_server_takes_is_refused(text: str, message: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_quantity(text)
    assert str(caught.value) == message


# An API server stores these as they are, so everybody who may create a pod can show them to a scheduler.
@pytest.mark.parametrize(
    ("text", "nano", "units"),
    [
        ("1e41", 10**50, 0),
        ("10e9999999", None, 0),
        ("12345e60", 12345 * 10**69, 0),
        ("1234567890123456789012e60", None, 2**62),
        ("-1e1000000", None, 0),
        ("1e-9999999", 1, 1),
        ("-1e-9999999", -1, 0),
        ("0e9999999", 0, 0),
        ("1" + "0" * 150 + "e-150", 10**9, 1),
        ("0." + "0" * 99 + "1e100", 10**9, 1),
        ("2." + "0" * 400_000 + "1", 2 * 10**9 + 1, 3),
        ("0." + "0" * 400_000, 0, 0),
        ("7" * 400_000, None, int("7" * 100) % 2**64 - 2**64 * (int("7" * 100) % 2**64 >= 2**63)),
        ("7" * 400_000 + "Ki", MAX_INT64 * 10**9, MAX_INT64),
        ("1." + "0" * 400_000 + "Ki", 1024 * 10**9, 1024),
    ],
)
def test_an_amount_of_any_length_is_read_at_once(text: str, nano: int | None, units: int) -> None:
    began = time.process_time()
    assert whole_units("memory", parse_quantity(text)) == units
    assert nano is None or parse_quantity(text) == nano
    assert time.process_time() - began < 1.0


@given(st.integers(0, 10**130), st.integers(-140, 140))
def test_long_amounts_have_the_lower_bits_of_their_exact_value(digits: int, exponent: int) -> None:
    exact_units = math.ceil(Fraction(math.ceil(Fraction(digits) * Fraction(10) ** (exponent + 9)), 10**9))
    if len(str(digits)) > 18:
        assert (whole_units("memory", parse_quantity(f"{digits}e{exponent}")) - exact_units) % 2**64 == 0


def test_texts_of_great_length_are_not_remembered() -> None:
    text = "8" * 5000
    before = sys.getrefcount(text)
    parse_quantity(text)
    assert sys.getrefcount(text) == before


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


@pytest.mark.parametrize(("text", "millis"), [("500m", 500), ("2", 2000), (2, 2000), ("0.0001", 1), ("-1", -1000)])
def test_cpu_is_read_in_milli_cpu_rounded_up(text: str | int, millis: int) -> None:
    assert cpu_millis(text) == millis


@pytest.mark.parametrize(("text", "amount"), [("1Gi", 2**30), ("2", 2), ("1.5k", 1500), ("100m", 1), (".5Ki", 512)])
def test_memory_is_read_in_bytes_rounded_up(text: str, amount: int) -> None:
    assert bytes_of(text) == amount


@pytest.mark.parametrize("read", [cpu_millis, bytes_of])
def test_a_text_that_is_not_a_quantity_is_refused(read) -> None:
    with pytest.raises(QuantityError, match="did you mean"):
        read("1GB")
