"""Reports as JUnit XML."""

import xml.etree.ElementTree as ET

from kubesched.pages.formats import Check, Page, Paragraph, as_junit
from tests.cli.clusters import run, shop, write


def test_each_check_is_a_case_and_one_that_does_not_hold_is_a_failure():
    checks = (Check("shop", "web"), Check("data", "db", "no <disk>\n0/3 nodes"), Check("shop", "api", 'a "b"\x1b'))
    suites = ET.fromstring(as_junit(Page("fit", Paragraph("No."), checks=checks)))
    assert (suites.get("name"), suites.get("tests"), suites.get("failures")) == ("fit", "3", "2")
    assert [(suite.get("name"), suite.get("tests")) for suite in suites] == [("shop", "2"), ("data", "1")]
    (failure,) = suites.findall("./testsuite/testcase[@name='db']/failure")
    assert (failure.get("message"), failure.text) == ("no <disk>", "no <disk>\n0/3 nodes")
    (case,) = suites.findall("./testsuite/testcase[@name='web']")
    assert (case.get("classname"), list(case)) == ("fit.shop", [])


def test_simulate_has_a_case_for_each_pending_pod(tmp_path):
    suites = ET.fromstring(run("simulate", write(tmp_path, *shop()), "-o", "junit").stdout)
    failed = [case.get("name") for case in suites.iter("testcase") if case.find("failure") is not None]
    assert (suites.get("tests"), failed) == ("5", ["huge", "gated", "foreign"])
