"""Each finding of `kubesched config check` with its line and column, and none on what is right."""

import pytest

from kubesched.config import RULES, ConfigSource, PluginArgs
from kubesched.config.sources.flags import field_flags, parse_flags
from kubesched.framework import Plugin
from kubesched.review import check_configuration
from tests.config.test_load import CASES, LEADS_ELSEWHERE, OUR_WORDS
from tests.review.checked_cases import FOLDER, HEADER, CheckedCase, cases

FAULTY = {
    f"{file}: {name}": case
    for file in ("fields.txt", "arguments.txt", "plugins.txt", "risks.txt")
    for name, case in cases(file).items()
}
CLEAN = cases("clean.txt")
NEED_MORE = {
    "rejected",
    "ignored-flag",
    "unknown-flag",
    "extender-probe",
    "shared-lease",
    "plugin-init",
    "unreachable-bind",
    "own-plugin",
    "not-probed",
}
"""Rules that no text alone can break."""


@pytest.mark.parametrize("case", FAULTY.values(), ids=FAULTY)
def test_every_finding_has_its_line_and_column(case: CheckedCase):
    checked = check_configuration(case.text)
    assert sorted((one.rule, one.line, one.column) for one in checked.findings) == case.expected
    assert bool(checked.error) == any(one.severity == "error" for one in checked.findings)
    assert all(one.message for one in checked.findings)


@pytest.mark.parametrize("case", CLEAN.values(), ids=CLEAN)
def test_nothing_is_found_in_a_clean_file(case: CheckedCase):
    checked = check_configuration(case.text)
    assert (checked.error, checked.findings, case.expected) == ("", (), [])


def test_there_are_enough_cases_and_every_rule_has_one():
    assert len(FAULTY) >= 150
    broken = {rule for case in FAULTY.values() for rule, _, _ in case.expected}
    assert broken | NEED_MORE == set(RULES)
    assert sorted(path.name for path in FOLDER.iterdir()) == [
        "arguments.txt",
        "clean.txt",
        "fields.txt",
        "plugins.txt",
        "risks.txt",
    ]


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if not case["accepted"] and case["name"] not in {*LEADS_ELSEWHERE, *OUR_WORDS}],
    ids=lambda case: case["name"],
)
def test_a_finding_has_the_words_of_kube_scheduler(case):
    errors = [one for one in check_configuration(case["config"]).findings if one.severity == "error"]
    plugin = 'initializing plugin "NodeResourcesFit": '  # upstream has it once for several faults
    assert any(one.message.removeprefix(plugin) in case["error"] for one in errors)


def test_a_flag_that_kube_scheduler_does_not_have_is_an_error_in_its_words():
    source = ConfigSource("a.yaml", HEADER, "a.yaml", unknown_flags=("policy-configmap", "leader-elekt"))
    checked = check_configuration(source)
    assert checked.error.startswith("unknown flag: --policy-configmap\n")
    assert [(one.message, one.rule) for one in checked.findings] == [
        ("unknown flag: --policy-configmap", "unknown-flag"),
        ("unknown flag: --leader-elekt", "unknown-flag"),
    ]
    assert checked.findings[0].help == "earlier versions had it, without effect beside --config; remove it"
    assert checked.findings[1].help == 'did you mean "leader-elect"?'
    assert check_configuration(source, kube_scheduler=False).error == ""


CONNECTED = f"{HEADER}clientConnection: {{qps: 50, kubeconfig: /etc/a.conf}}\n"


def ignored(text: str, *flags: str, **options: bool) -> list[tuple[str, int]]:
    """What is found about flags beside the file, with the line."""
    source = ConfigSource("a.yaml", text, "a.yaml", ignored_flags=field_flags(parse_flags(flags)))
    findings = check_configuration(source, **options).findings
    return [(f"{one.message}; {one.help}", one.line) for one in findings if one.rule == "ignored-flag"]


def test_a_kubeconfig_beside_a_file_is_a_warning_with_the_way_out():
    ((said, line),) = ignored(HEADER, "--kubeconfig=/etc/a.conf")
    assert said == (
        "--kubeconfig has no effect beside --config; kube-scheduler uses clientConnection.kubeconfig of the file: "
        '"", the service account of its pod; write clientConnection.kubeconfig: "/etc/a.conf" there if you need it, '
        "and remove the flag"
    )
    assert line == 1
    assert RULES["ignored-flag"].severity == "warning"


def test_a_flag_that_says_what_the_file_says_is_not_found():
    assert ignored(CONNECTED, "--kubeconfig=/etc/a.conf", "--kube-api-qps=50.0", "--profiling=true") == []
    found = ignored(CONNECTED, "--kubeconfig=/etc/b.conf", "--profiling=false")
    assert [(said.partition(" has")[0], line) for said, line in found] == [("--profiling", 1), ("--kubeconfig", 3)]


def test_kubesched_reads_the_kubeconfig_beside_a_file():
    assert ignored(HEADER, "--kubeconfig=/etc/a.conf", kube_scheduler=False) == []


def test_flags_of_an_older_version_are_wrong_themselves_not_the_version_that_they_stand_for():
    text = HEADER.replace("/v1", "/v1alpha1")
    source = ConfigSource("a.yaml", text, "a.yaml", is_generated=True, unknown_flags=("algorithm-provider",))
    assert [one.rule for one in check_configuration(source).findings] == ["unknown-flag"]


OLDER = {
    version: f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n"
    for version in ("v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3")
}


@pytest.mark.parametrize("text", [*OLDER.values(), '{"predicates": [{"name": "GeneralPredicates"}]}'])
def test_an_older_version_is_an_error_for_kube_scheduler_and_none_for_kubesched(text: str):
    assert "old-version" in {one.rule for one in check_configuration(text).findings}
    checked = check_configuration(text, kube_scheduler=False)
    assert checked.error == ""
    assert checked.configuration is not None
    assert not any(one.severity == "error" for one in checked.findings)


def test_for_kubesched_an_older_version_has_its_warnings_at_its_own_lines():
    text = OLDER["v1beta2"] + (
        "percentageOfNodesToScore: 1\nprofiles:\n- schedulerName: a\n  plugins:\n"
        "    score: {enabled: [{name: ImageLocality, weight: 900}]}\n    filter: {disabled: [{name: NodePorts}]}\n"
    )
    found = {one.rule: one.line for one in check_configuration(text, kube_scheduler=False).findings}
    assert found["low-percentage"] == 3
    assert found["dominant-weight"] == 7
    assert "filter-disabled" in found
    assert {"old-version"} == {one.rule for one in check_configuration(text).findings}


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("parallelism: 0\n", "invalid-value"),
        ("profiles: [{schedulerName: a, plugins: {filter: {enabled: [{name: Gone}]}}}]\n", "unknown-plugin"),
        ("parallelizm: 3\n", "not-convertible"),
    ],
)
def test_for_kubesched_an_older_version_with_an_error_is_rejected(body: str, rule: str):
    checked = check_configuration(OLDER["v1beta2"] + body, kube_scheduler=False)
    assert checked.error
    assert [one.rule for one in checked.findings if one.severity == "error"] == [rule]


class Mine(Plugin):
    def filter(self, state, pod, node): ...

    def score(self, state, pod, node): ...


def test_a_plugin_of_the_user_is_a_note_for_kube_scheduler_where_the_file_names_it():
    enabled = "{enabled: [{name: Mine}]}"
    named = HEADER + f"profiles: [{{plugins: {{multiPoint: {enabled}, score: {enabled}}}}}]\n"
    (finding,) = check_configuration(named, [Mine]).findings
    assert (finding.rule, finding.severity, finding.line) == ("own-plugin", "note", 3)
    assert finding.message.startswith("Mine comes from ")
    assert check_configuration(named, [Mine], kube_scheduler=False).findings == ()
    assert check_configuration(HEADER, [Mine]).findings == ()


class NeedyArgs(PluginArgs):
    team: str
    bonus: int = 1


class Needy(Plugin):
    Args = NeedyArgs

    def filter(self, state, pod, node): ...


def test_a_wrong_type_beside_a_missing_argument_is_found_and_is_the_error():
    text = f"{HEADER}profiles:\n- pluginConfig:\n  - name: Needy\n    args:\n      bonus: x\n"
    checked = check_configuration(text, [Needy])
    assert checked.error.endswith('decoding args for plugin Needy: bonus: expected an integer, found "x"')
    found = [(one.rule, one.line, one.message) for one in checked.findings]
    assert found[0] == ("wrong-type", 6, "decoding args for plugin Needy: team: Required value")
    assert found[1] == ("wrong-type", 7, 'bonus: expected an integer, found "x"')


def test_a_bundled_plugin_is_an_error_for_kube_scheduler_that_names_the_option():
    text = HEADER + "profiles: [{plugins: {multiPoint: {enabled: [{name: NodeUsage}]}}}]\n"
    (finding,) = check_configuration(text).findings
    assert finding.rule == "unknown-plugin"
    assert "kubesched config check --for kubesched FILE" in finding.help
    assert "--plugin" not in finding.help
    assert check_configuration(text, kube_scheduler=False).findings == ()


def test_a_legacy_plugin_is_an_error_for_kube_scheduler_and_none_for_kubesched():
    text = HEADER + "profiles: [{plugins: {score: {enabled: [{name: NodeResourcesMostAllocated, weight: 5}]}}}]\n"
    checked = check_configuration(text)
    assert 'ScorePlugin "NodeResourcesMostAllocated" does not exist' in checked.error
    (finding,) = checked.findings
    assert (finding.severity, "config convert FILE" in finding.help) == ("error", True)
    assert check_configuration(text, kube_scheduler=False).findings == ()


def test_a_plugin_that_is_not_enabled_by_default_is_disabled_without_effect():
    text = HEADER + "profiles: [{plugins: {multiPoint: {disabled: [{name: Quiet}]}}}]\n"

    class Quiet(Plugin):
        def score(self, state, pod, node):
            return 0

    assert [one.rule for one in check_configuration(text, [Quiet]).findings] == ["disabled-without-effect"]


def test_componentconfig_is_an_older_version():
    text = "apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\n"
    (finding,) = check_configuration(text).findings
    assert (finding.rule, "config convert" in finding.help) == ("old-version", True)


OLD_NAMES = {
    "NodeResourcesLeastAllocated": "NodeResourcesFit took it over in v1beta2 with scoringStrategy LeastAllocated",
    "SelectorSpread": "PodTopologySpread took it over in v1beta3 with defaultingType System, and is still enabled",
    "EBSLimits": "NodeVolumeLimits took it over in v1.31, and is not enabled",
    "TaintTolerations": 'did you mean "TaintToleration"?',
}


@pytest.mark.parametrize(("name", "advice"), OLD_NAMES.items())
def test_the_plugin_that_took_over_is_named_and_not_its_opposite(name, advice):
    disabled = f"profiles: [{{plugins: {{score: {{disabled: [{{name: {name}}}]}}}}}}]\n"
    arguments = f"profiles: [{{pluginConfig: [{{name: {name}, args: {{}}}}]}}]\n"
    (finding,) = check_configuration(HEADER + disabled).findings
    assert finding.help.startswith(advice)
    (finding,) = check_configuration(HEADER + arguments).findings
    assert finding.rule == "removed-plugin" or finding.help.startswith(advice.partition(",")[0])
