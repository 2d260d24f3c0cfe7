"""Options become arguments of commands: in groups, several as one value, and texts as mappings."""

import click
import pytest
from click.testing import CliRunner

from kubesched.cli.parameters import gathered, option_group, option_value, pairs

PLACE = (click.option("--zone", default="a"), click.option("--rack", type=int, default=0))


def place_of(zone: str, rack: int) -> str:
    return f"{zone}{rack}"


def printed(decorate, *words: str) -> str:
    """What a command with some options has as `place`, and as the rest."""

    @click.command()
    @decorate
    def command(**values: object) -> None:
        click.echo(sorted(values.items()))

    result = CliRunner().invoke(command, list(words))
    assert result.exit_code == 0, result.output
    return result.output.strip()


def test_a_group_has_its_options_in_the_given_order() -> None:
    @click.command()
    @option_group(*PLACE)
    def command() -> None:
        """Do nothing."""

    assert [param.name for param in command.params] == ["zone", "rack"]


def test_options_of_a_value_are_one_argument() -> None:
    assert printed(option_value("place", place_of, *PLACE), "--rack", "3") == "[('place', 'a3')]"


def test_options_are_gathered_beside_others() -> None:
    decorate = option_group(gathered("place", place_of), *PLACE, click.option("--all", is_flag=True))
    assert printed(decorate, "--zone", "b") == "[('all', False), ('place', 'b0')]"


def test_options_that_a_command_does_not_have_keep_their_defaults() -> None:
    def with_default(zone: str, rack: int = 7) -> str:
        return place_of(zone, rack)

    assert printed(option_group(gathered("place", with_default), PLACE[0])) == "[('place', 'a7')]"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cpu"], "found 'cpu'; write NAME=N, such as cpu=2"),
        (["=2"], "found '=2'; write NAME=N"),
        (["cpu=x"], "found 'cpu=x'; write NAME=N"),
        (["cpu=1", "cpu=2"], "cpu is given twice; add them up"),
    ],
)
def test_a_pair_has_a_name_and_a_value_once(words: list[str], message: str) -> None:
    parse = pairs("NAME=N, such as cpu=2", is_value=str.isdecimal, twice="; add them up")
    with pytest.raises(click.BadParameter, match=message):
        parse(None, None, tuple(words))


def test_pairs_are_a_mapping_of_texts() -> None:
    assert pairs("NAME=TEXT")(None, None, ("a=b=c", "d=e")) == {"a": "b=c", "d": "e"}
