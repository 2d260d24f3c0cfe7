"""Every exception that kubesched raises, as one tree. A class exists if a caller would catch it separately.

    KubeschedError
    ├── InputError                 invalid input; exit code 2
    │   ├── QuantityError          a resource quantity that Kubernetes does not accept
    │   ├── SelectorError          a label or node selector that does not parse
    │   ├── CelCompileError        a CEL expression that does not compile
    │   ├── ObjectError            a Kubernetes object that does not decode
    │   ├── YamlError              a text that is not valid YAML, or has what JSON cannot express
    │   └── ConfigError            a KubeSchedulerConfiguration or a kubeconfig that is not valid
    │       └── UndecidedGateError a feature gate that kube-scheduler takes, and kubesched has no rules for
    ├── StateError                 an event or call that contradicts the state of ClusterState or a queue
    ├── PluginError                a plugin raised or returned nonsense (plugin, extension point)
    │   └── PluginDefinitionError  a plugin class that cannot work, found when it is defined or loaded
    ├── ClusterError               the API server refused, or did not answer
    │   ├── UnauthorizedError      the credentials are not accepted (401) or missing
    │   ├── NotFoundError          the object does not exist (404)
    │   ├── ConflictError          the object is not in the state that the request expects (409)
    │   ├── GoneError              the resource version is too old to go on from (410)
    │   └── NotSentError           this process may not write any more, so nothing was sent
    ├── LeaseLostError             this process led, and must not any more
    ├── ExtenderError              an HTTP extender failed
    ├── WorkerError                processes that share the work cannot do it
    ├── ClaimError                 VolumeBinding cannot judge a claim
    ├── CelRuntimeError            a CEL expression cannot be evaluated for a device
    └── NoRoomError                the body of a request waited too long for memory
    BaseException
    └── DeadlineExceeded           the time of an attempt is over; not an Exception, so no plugin's fault

Each message has the place, what was found, what is allowed and what to do, in one sentence. Third-party exceptions end
at the adapter that met them, as the cause. An exception class elsewhere is private to its file, is a class of click or
aiohttp, or carries a value of its room, as `PluginFault` does.
"""

import re
from typing import Final

_FURTHER_LINE: Final = re.compile(r"(?<=\n)(?! )")
"""The start of a line that is not indented, and could look like another message."""


class KubeschedError(Exception):
    """Base of everything that kubesched raises on purpose."""


class InputError(KubeschedError):
    """Something that the user gave is wrong: a file, an object, an option. The command line exits with 2."""


class QuantityError(InputError):
    """A text that is not a resource quantity."""


class SelectorError(InputError):
    """A selector that Kubernetes cannot parse. `str()` is upstream's text.

    Attributes:
        faults: upstream's field errors, at least one.
    """

    def __init__(self, *faults: str) -> None:
        distinct = list(dict.fromkeys(faults))
        super().__init__(distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]")
        self.faults = faults


class CelCompileError(InputError):
    """A CEL expression that does not compile; the text is upstream's, with the place and the source."""


class ObjectError(InputError):
    """A Kubernetes object that does not decode; the message names the field."""


class ConfigError(InputError):
    """A configuration that is not valid. `str()` begins with kube-scheduler's own text where it has one."""


class UndecidedGateError(ConfigError):
    """A feature gate that kube-scheduler takes with this value, and that kubesched has no rules for."""


class YamlError(InputError):
    """A text that is not valid YAML, or has what JSON cannot express.

    Attributes:
        place: `line 3, column 5: `, empty where it is not known.
        is_syntax: whether the text is not YAML at all; the problem then quotes nothing of it.
        upstream: the fault as kubectl and kube-scheduler report it.
        at: line and column, from 1; None where they are not known.
        advice: what to do, where the cause is known; the message has it, too, `upstream` does not.
    """

    def __init__(
        self,
        place: str,
        problem: str,
        *,
        line: str,
        is_syntax: bool = False,
        at: tuple[int, int] | None = None,
        advice: str = "",
    ) -> None:
        text = f"{place}{'not valid YAML: ' if is_syntax else ''}{problem}"
        super().__init__(f"{text}; {advice}" if advice else text)
        self.place = place
        self.is_syntax = is_syntax
        self.upstream = f"yaml: {line}{problem}"
        self.at = at
        self.advice = advice


class StateError(KubeschedError):
    """A call that contradicts what the state knows, such as assuming a pod twice."""


class PluginError(KubeschedError):
    """A plugin raised, or returned what its hook does not allow.

    Attributes:
        plugin: name of the plugin.
        extension_point: name of the hook, as in configuration files (`preFilter`).
    """

    def __init__(self, message: str, *, plugin: str = "", extension_point: str = "") -> None:
        super().__init__(message)
        self.plugin = plugin
        self.extension_point = extension_point


class PluginDefinitionError(PluginError):
    """A plugin class that cannot work: wrong signature, two forms of one rule, no such extension point."""


class ClusterError(KubeschedError):
    """The API server refused a request, or did not answer.

    Attributes:
        status: HTTP status code, 0 when there was no answer.
        reason: machine-readable reason of the Status object, such as `Conflict`; `Timeout` when there was no answer in
            time.
        retry_after: seconds to wait before the next request, None where it is not given.
        message: what the API server itself wrote; empty where there was no answer.
        may_be_done: whether the API server may have carried out the request. True unless every try was refused.
    """

    def __init__(
        self, text: str, *, status: int = 0, reason: str = "", retry_after: float | None = None, message: str = ""
    ) -> None:
        super().__init__(text)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after
        self.message = message
        self.may_be_done = not 300 <= status < 500


class UnauthorizedError(ClusterError):
    """The API server does not accept the credentials, or there are none."""


class NotFoundError(ClusterError):
    """The object, or the resource, does not exist."""


class ConflictError(ClusterError):
    """The object is not as the request took it to be: changed, recreated, or already bound."""


class GoneError(ClusterError):
    """The resource version is too old to list or watch from; list again."""


class NotSentError(ClusterError):
    """The request was not sent, because this process may not write any more."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.may_be_done = False


class LeaseLostError(KubeschedError):
    """This process led and lost its lease. It ends with exit code 1, because another leader may be at work."""


class ExtenderError(KubeschedError):
    """An HTTP extender could not be asked or answered against the protocol."""


class WorkerError(KubeschedError):
    """Processes that share the work cannot do it: no Dask scheduler answers, or a worker cannot take part."""


class ClaimError(KubeschedError):
    """A claim that VolumeBinding cannot judge; the text is upstream's."""


class CelRuntimeError(KubeschedError):
    """The evaluation of a CEL expression failed; the text is upstream's.

    Attributes:
        is_final: whether it ends the evaluation even where `||` or `&&` would do without the operand.
    """

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


class NoRoomError(KubeschedError):
    """The transfer of a body waited too long for room."""


class DeadlineExceeded(BaseException):
    """The time of an attempt is over. It is not an Exception, so that it is not handled as a plugin's fault."""


def error_message(text: str) -> str:
    """What a process prints before it ends because of an error: one message, whose further lines are indented."""
    return f"kubesched: error: {indent_further_lines(text)}"


def indent_further_lines(text: str) -> str:
    """Text whose lines after the first are indented, so that none looks like another message."""
    return _FURTHER_LINE.sub("  ", text)
