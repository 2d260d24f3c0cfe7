"""The base class of all plugin arguments, for in-tree and other plugins."""

from typing import Final, Self

import msgspec

from kubesched.config.field_errors import FieldError
from kubesched.config.strict import typed
from kubesched.errors import ConfigError

# msgspec hands `frozen` on to subclasses; type checkers would ask every author to repeat it, so they do not see it.
_FROZEN: Final = {"frozen": True}


class PluginArgs(msgspec.Struct, rename="camel", forbid_unknown_fields=True, **_FROZEN):
    """The arguments of a plugin in `pluginConfig`; subclass it as `Args` of the plugin, with a default for each field.

    Fields are snake_case in Python and camelCase in files; instances are immutable. A field that is absent or null in
    the file has its default. Reading the configuration fails on an undeclared field or a value of another type. Python
    code that makes an instance gets the same check.

    Raises:
        ConfigError: a value has another type than its field.

    Example:
        class Args(PluginArgs):
            owners: dict[str, str] = {}
            bonus: int = 10

            def validate(self, path: str) -> list[FieldError]:
                if self.bonus > 0:
                    return []
                return [FieldError.invalid(child(path, "bonus"), self.bonus, "must be positive")]
    """

    def __post_init__(self) -> None:
        for field in msgspec.structs.fields(self):
            try:
                value = typed(getattr(self, field.name), field.type)
            except ConfigError as error:
                path = f"{type(self).__qualname__.rpartition('<locals>.')[2]}.{field.name}"
                raise ConfigError(f"{path}{'' if str(error).startswith('[') else ': '}{error}") from None
            msgspec.structs.force_setattr(self, field.name, value)

    def with_defaults(self) -> Self:
        """The same arguments with the defaults that one field's declaration cannot say; called once, after decoding."""
        return self

    def validate(self, path: str) -> list[FieldError]:
        """Find what is wrong with the arguments; called once, after `with_defaults`.

        Args:
            path: the place of the arguments, to put in front of each field's name with `child(path, "bonus")`; empty
                when the arguments themselves are the root.
        Returns: findings in the order of the fields; none when the arguments hold.
        """
        return []
