"""What a scheduler prints about findings."""

from kubesched.config import FieldError, Finding, ReadingStage, error_of, field_finding
from kubesched.config.findings import error_finding
from kubesched.errors import ConfigError


def of(stage: ReadingStage, text: str, advice: str = "") -> Finding:
    return Finding("invalid-value", "a.b", text, advice, stage=stage)


def test_wrong_values_are_printed_together_and_help_stands_on_indented_lines_below():
    findings = [field_finding(FieldError.required("a", help="give it")), field_finding(FieldError.required("b"))]
    assert str(error_of(findings, "prefix: ")) == "prefix: [a: Required value, b: Required value]\n  a: give it"


def test_wrong_fields_are_printed_together():
    findings = [of(ReadingStage.FIELDS, "one", "give it"), of(ReadingStage.FIELDS, "two")]
    assert str(error_of(findings)) == "strict decoding error: one, two\n  a.b: give it"


def test_of_every_other_stage_the_first_finding_is_printed():
    assert str(error_of([of(ReadingStage.TYPES, "one"), of(ReadingStage.TYPES, "two", "give it")])) == "one"


def test_only_the_earliest_stage_is_printed():
    findings = [of(ReadingStage.VALUES, "late"), of(ReadingStage.TYPES, "early"), of(ReadingStage.FIELDS, "between")]
    assert str(error_of(findings)) == "early"


def test_an_error_that_becomes_a_finding_is_printed_as_it_is():
    error = ConfigError("it fails\n  a: try this\n  b: or that")
    finding = error_finding("plugin-init", "p", error, ReadingStage.PROFILES, "starting: ")
    assert (finding.message, finding.help) == ("it fails", "a: try this\nb: or that")
    assert str(error_of([finding])) == f"starting: {error}"


def test_the_rule_of_an_error_is_its_own_or_that_of_its_words():
    own = FieldError.invalid("plugins.queueSort", 2, "only one", rule="queue-sort")
    errors = [own, FieldError.required("a"), FieldError.invalid("args.queueSort", 2, "only one")]
    assert [field_finding(error).rule for error in errors] == ["queue-sort", "required-value", "invalid-value"]
