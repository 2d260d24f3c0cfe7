"""Two thousand broken bodies: never an exception, and no answer that the protocol does not allow."""

from campaigns.fuzz.bodies import cases, run, servers


def test_no_body_does_harm():
    n_answered, failures = run(seed=0, portion=0, n=2000)
    assert failures == []
    assert 200 < n_answered < 1800, "broken too little or too much to find anything"


def test_broken_bodies_leave_a_state_that_holds():
    asked = servers()
    for case in cases(seed=1, portion=0, n=500):
        if case.verb != "bind":
            getattr(asked[case.server].verbs, case.verb)(case.body, lambda _plugin: None)
    for server in asked:
        server.cluster_state.check_invariants()
