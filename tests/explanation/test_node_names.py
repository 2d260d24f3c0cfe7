from kubesched.explanation import common_domain


def test_the_end_that_all_names_share_is_found():
    assert common_domain(["ip-1.eu.internal", "ip-2.eu.internal"]) == ".eu.internal"


def test_names_without_a_common_end_stay_whole():
    assert common_domain(["ip-1.eu.internal", "ip-2.us.internal"]) == ""
    assert common_domain(["n1", "n2.eu"]) == ""
    assert common_domain(["n1", "n2"]) == ""
    assert common_domain([]) == ""
