"""How options become arguments of commands: options in groups, the values of several as one, texts as values."""

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from inspect import signature
from typing import Any

import click

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
ParameterCheck = Callable[[click.Context, click.Parameter, Any], Any]


def option_group(*options: Decorator) -> Decorator:
    """Options, in the order of the help, as one decorator."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def gathered(argument: str, make: Callable[..., Any], names: Collection[str] = ()) -> Decorator:
    """Give a command the values of several options as one.

    Args:
        argument: of the command.
        make: makes the value of those options that the command has, by name.
        names: of the options; by default those of the parameters of `make`.
    """
    names = names or tuple(signature(make).parameters)

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(*arguments: Any, **values: Any) -> Any:
            own = {name: values.pop(name) for name in names if name in values}
            return command(*arguments, **{argument: make(**own)}, **values)

        return call

    return decorate


def option_value(argument: str, make: Callable[..., Any], *options: Decorator) -> Decorator:
    """Options, in the order of the help, whose values are one argument of the command, as with `gathered`."""

    def probe() -> None:
        """Get the options."""

    option_group(*options)(probe)
    names = [param.name for param in getattr(probe, "__click_params__", ())]
    return option_group(gathered(argument, make, names), *options)


def pairs(form: str, *, is_value: Callable[[str], bool] = bool, twice: str = "") -> ParameterCheck:
    """The callback of an option that is given as NAME=VALUE, several times: a mapping.

    Args:
        form: `NAME=QUANTITY, such as cpu=2`.
        is_value: whether a text is a value.
        twice: what to add where a name is given twice.
    """

    def parse(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
        values: dict[str, str] = {}
        for text in texts:
            name, _, value = text.partition("=")
            if not name or not is_value(value):
                raise click.BadParameter(f"found {text!r}; write {form}")
            if name in values:
                raise click.BadParameter(f"{name} is given twice{twice}")
            values[name] = value
        return values

    return parse


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Options as words of a command line.

    Args:
        options: their values, by the name that is typed: True for a flag, None and False for an option that is not
            given, several values for one that is repeated, a mapping for NAME=VALUE.
    """
    words: list[str] = []
    for option, value in options.items():
        if isinstance(value, Mapping):
            value = [f"{name}={text}" for name, text in value.items()]
        for each in value if isinstance(value, list | tuple) else [value]:
            if each is not None and each is not False:
                words += [option] if each is True else [option, str(each)]
    return words


def not_empty(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """The callback of an option that cannot be an empty text."""
    if value == "":
        raise click.BadParameter("found an empty text; leave the option out instead")
    return value


class Seconds(click.ParamType[float]):
    """A duration as configurations have it, `5s`, or a number of seconds."""

    name = "DURATION"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds."""
        from kubesched.config import parse_duration

        if isinstance(value, int | float):
            return float(value)
        try:
            seconds = float(parse_duration(f"{value}s" if _is_number(value) else value))
        except ValueError:
            self.fail(f"{value!r} is not a duration; write it like 5s, 500ms or 1m30s", param, ctx)
        if seconds <= 0:
            self.fail(f"{value!r} must be more than 0", param, ctx)
        return seconds


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()
