import msgspec
import numpy as np
import pytest

from kubesched.config import FieldError, PluginArgs, child, load_args
from kubesched.errors import ConfigError


class TeamArgs(PluginArgs):
    owners: dict[str, str] = {}
    zone_bonus: int = 10
    names: list[str] = []

    def validate(self, path: str) -> list[FieldError]:
        return [FieldError.invalid(child(path, "zoneBonus"), self.zone_bonus, "must be positive")] * (
            self.zone_bonus < 1
        )


TYPES = {"Team": TeamArgs}


def error_of(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_args(text, "Team", args_types=TYPES)
    return str(caught.value)


def test_plain_mutable_defaults_are_not_shared():
    TeamArgs().owners["a"] = "b"
    assert TeamArgs().owners == {}


def test_arguments_are_immutable():
    with pytest.raises(AttributeError):
        TeamArgs().zone_bonus = 3


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"owners": 3}, "TeamArgs.owners: expected an object, found 3"),
        ({"owners": {"a": None}}, "TeamArgs.owners: a: expected a string, found null"),
        ({"zone_bonus": "10"}, 'TeamArgs.zone_bonus: expected an integer, found "10"'),
        ({"names": ["a", 1]}, "TeamArgs.names[1]: expected a string, found 1; put it in quotes"),
        ({"zone_bonus": np.int64(3)}, 'TeamArgs.zone_bonus: expected an integer, found "np.int64(3)"'),
    ],
)
def test_an_instance_made_in_python_has_the_types_of_its_fields(fields, said):
    with pytest.raises(ConfigError) as caught:
        TeamArgs(**fields)
    assert str(caught.value) == said


def test_what_a_file_could_hold_becomes_the_type_of_its_field():
    assert TeamArgs(names=("a", "b")).names == ["a", "b"]


def test_fields_are_camel_case_in_files():
    assert load_args("{zoneBonus: 3, owners: {a: b}}", "Team", args_types=TYPES) == TeamArgs({"a": "b"}, 3)


def test_null_and_nothing_mean_the_defaults():
    assert load_args("zoneBonus: null", "Team", args_types=TYPES) == TeamArgs()
    assert load_args("", "Team", args_types=TYPES) == TeamArgs()


def test_json_is_read_too():
    assert load_args(b'{"names": ["a"]}', "Team", args_types=TYPES) == TeamArgs(names=["a"])


def test_an_undeclared_field_is_refused_with_the_nearest_name():
    assert error_of("zonebonus: 3") == (
        'decoding args for plugin Team: strict decoding error: unknown field "zonebonus"\n'
        '  zonebonus: did you mean "zoneBonus"?'
    )


def test_a_value_of_another_type_is_named_by_its_path():
    assert error_of("{owners: {a: b, c: yes}}") == (
        "decoding args for plugin Team: owners.c: expected a string, found true; put it in quotes"
    )
    assert error_of("names: [a, [b]]") == 'decoding args for plugin Team: names[1]: expected a string, found ["b"]'
    assert error_of("- a") == 'decoding args for plugin Team: expected an object, found ["a"]'


def test_a_repeated_key_is_refused():
    assert error_of("zoneBonus: 1\nzoneBonus: 2") == (
        "decoding args for plugin Team: strict decoding error: yaml: unmarshal errors:\n"
        'line 2: key "zoneBonus" already set in map'
    )


def test_a_missing_field_without_default_is_required():
    class Needy(PluginArgs):
        must: int

    with pytest.raises(ConfigError, match=r"decoding args for plugin Needy: must: Required value"):
        load_args("", "Needy", args_types={"Needy": Needy})


def test_arguments_of_a_plugin_that_nobody_knows_stay_as_they_are():
    assert msgspec.json.decode(load_args("{a: [1, null]}", "Nope", args_types=TYPES)) == {"a": [1, None]}
    assert load_args("", "Nope", args_types=TYPES) is None


def test_arguments_have_no_findings_unless_the_plugin_looks():
    assert PluginArgs().validate("") == []
    assert str(TeamArgs(zone_bonus=0).validate("args")[0]) == "args.zoneBonus: Invalid value: 0: must be positive"
