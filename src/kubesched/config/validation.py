"""Validates a configuration as kube-scheduler does before it builds anything, in its order and words.

Every finding is collected. NodeResourcesFit's arguments and those of plugins outside the tree are not looked at here:
they are checked when the plugin is built.

Rule: kube-scheduler v1.36 ValidateKubeSchedulerConfiguration.
"""

from collections.abc import Container, Iterable
from typing import Final

from kubesched.api import is_extended_resource
from kubesched.config.defaults import ARGS_PLUGINS
from kubesched.config.field_errors import FieldError, Verbatim, item, qualified_name_errors
from kubesched.config.plugin_args import PluginArgs
from kubesched.config.type_meta import API_VERSION
from kubesched.config.types import (
    ExtenderConfig,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionConfiguration,
    LeaderElectionFlags,
    PluginConfig,
    Plugins,
)

_REMOVED_PLUGINS: Final = frozenset(("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"))
_CHECKED_ARGS: Final = ARGS_PLUGINS - {"NodeResourcesFit"}
_DEFAULT_ELECTION: Final = LeaderElectionConfiguration()
_PRIORITY_SORT: Final = "PrioritySort"
_GO_PATH: Final = 'field.Path{name:"schedulerName", index:"", parent:(*field.Path)(0x...)}'  # the address is chance

_NO_FLAGS: Final = LeaderElectionFlags()


def validate(configuration: KubeSchedulerConfiguration, flags: LeaderElectionFlags = _NO_FLAGS) -> list[FieldError]:
    """Find everything that is wrong with a complete configuration; nothing, if it holds.

    Args:
        flags: what has replaced fields of the file, for our help.
    """
    errors = []
    if configuration.client_connection.burst < 0:
        burst = configuration.client_connection.burst
        errors.append(FieldError.invalid("clientConnection.burst", burst, "must be non-negative"))
    if configuration.leader_election.leader_elect:
        errors += _leader_election_errors(configuration.leader_election, flags)
    if configuration.parallelism <= 0:
        detail = "should be an integer value greater than zero"
        errors.append(FieldError.invalid("parallelism", configuration.parallelism, detail))
    errors += _profiles_errors(configuration.profiles)
    errors += _percentage_errors("percentageOfNodesToScore", configuration.percentage_of_nodes_to_score)
    errors += _backoff_errors(configuration.pod_initial_backoff_seconds, configuration.pod_max_backoff_seconds)
    return errors + _extenders_errors(configuration.extenders)


def _leader_election_errors(election: LeaderElectionConfiguration, flags: LeaderElectionFlags) -> list[FieldError]:
    durations = {"leaseDuration": "lease_duration", "renewDeadline": "renew_deadline", "retryPeriod": "retry_period"}
    errors = [
        FieldError.invalid(f"leaderElection.{name}", value, "must be greater than zero", help=_given_by(flags, field))
        for name, field in durations.items()
        if (value := getattr(election, field)) <= 0
    ]
    if election.lease_duration <= election.renew_deadline:
        # The value shown is the other one; upstream does so.
        detail, earlier = "must be greater than `RenewDeadline`", "LeaseDuration must be greater than RenewDeadline"
        lease = _shown_duration("leaseDuration", "lease_duration", election, flags)
        renewal = _shown_duration("renewDeadline", "renew_deadline", election, flags)
        advice = f"{lease}, {renewal}; give a longer lease duration or a shorter renew deadline"
        path, renew = "leaderElection.leaseDuration", election.renew_deadline
        errors.append(FieldError.invalid(path, renew, detail, help=advice, earlier_detail=earlier))
    if election.resource_lock != "leases":
        detail = 'resourceLock value must be "leases"'
        advice = _given_by(flags, "resource_lock")
        errors.append(FieldError.invalid("leaderElection.resourceLock", election.resource_lock, detail, help=advice))
    return errors


def _shown_duration(name: str, field: str, election: LeaderElectionConfiguration, flags: LeaderElectionFlags) -> str:
    """A duration with the flag that gave it, or the field, and whether it is the default."""
    value = getattr(election, field)
    is_default = field not in flags.given and value == getattr(_DEFAULT_ELECTION, field)
    return f"{flags.source(field) or name} is {value}{' by default' if is_default else ''}"


def _given_by(flags: LeaderElectionFlags, field: str) -> str:
    return f"the value is from {flag}" if (flag := flags.source(field)) else ""


def _profiles_errors(profiles: tuple[KubeSchedulerProfile, ...]) -> list[FieldError]:
    errors = []
    names: set[str] = set()
    for i, profile in enumerate(profiles):
        where = item("profiles", i)
        errors += _profile_errors(where, profile)
        if profile.scheduler_name in names:
            advice = f"{profile.scheduler_name} names an earlier profile too"
            path = f"{where}.schedulerName"
            errors.append(FieldError.duplicate(path, Verbatim("{}"), help=advice, go_value=_GO_PATH))
        names.add(profile.scheduler_name)
    return errors + _queue_sort_errors(profiles)


def _profile_errors(where: str, profile: KubeSchedulerProfile) -> list[FieldError]:
    errors = []
    if not profile.scheduler_name:
        errors.append(FieldError.required(f"{where}.schedulerName"))
    if profile.percentage_of_nodes_to_score is not None:
        errors += _percentage_errors(f"{where}.percentageOfNodesToScore", profile.percentage_of_nodes_to_score)
    errors += _removed_plugin_errors(f"{where}.plugins", profile.plugins)
    return errors + _plugin_config_errors(f"{where}.pluginConfig", profile.plugin_config)


def _removed_plugin_errors(where: str, plugins: Plugins) -> list[FieldError]:
    return [
        _removed(f"{where}.{point}.enabled[{k}]", name)
        for point, plugin_set in plugins.by_point().items()
        for k, name in enumerate(plugin_set.enabled_names)
        if name in _REMOVED_PLUGINS and point != "multiPoint"
    ]


def _removed(where: str, name: str) -> FieldError:
    detail = f'was invalid in version "v1" (KubeSchedulerConfiguration is version "{API_VERSION}")'
    advice = "use NodeVolumeLimits, which counts the volumes of CSI drivers"
    return FieldError.invalid(where, name, detail, help=advice, rule="removed-plugin")


def _plugin_config_errors(where: str, entries: tuple[PluginConfig, ...]) -> list[FieldError]:
    errors = []
    seen: set[str] = set()
    for j, entry in enumerate(entries):
        if entry.name in seen:
            errors.append(FieldError.duplicate(item(where, j), entry.name))
        elif entry.name in _REMOVED_PLUGINS:
            errors.append(_removed(item(where, j), entry.name))
        elif entry.name in _CHECKED_ARGS and isinstance(entry.args, PluginArgs):
            errors += entry.args.validate(f"{item(where, j)}.args")
        seen.add(entry.name)
    return errors


def queue_sort_advice(sorters: Iterable[str]) -> str:
    """How all profiles get the same queue sort plugin, as text to paste.

    Args:
        sorters: the queue sort plugins that the profiles enable.
    """
    own = [name for name in dict.fromkeys(sorters) if name and name != _PRIORITY_SORT]
    if not own:
        return f"all profiles share one queue; remove queueSort from every profile, so that {_PRIORITY_SORT} sorts it"
    first, *others = own
    choice = f" ({' or '.join(others)} instead of {first} is possible, too)" if others else ""
    pasted = f"queueSort: {{disabled: [{{name: {_PRIORITY_SORT}}}], enabled: [{{name: {first}}}]}}"
    return f"all profiles share one queue; write this below plugins of every profile{choice}: {pasted}"


def _queue_sort_errors(profiles: tuple[KubeSchedulerProfile, ...]) -> list[FieldError]:
    """All profiles share one queue, so they have to sort it alike."""
    if not profiles:
        return [FieldError.required("profiles")]
    canonical = profiles[0].plugins.queue_sort
    advice = queue_sort_advice(name for profile in profiles for name in profile.plugins.queue_sort.enabled_names)
    errors = []
    if len(canonical.enabled) > 1:
        detail = "only one queue sort plugin can be enabled"
        path = "profiles[0].plugins.queueSort.Enabled"
        errors.append(FieldError.invalid(path, len(canonical.enabled), detail, help=advice, rule="queue-sort"))
    sorter = canonical.enabled[0].name if canonical.enabled else ""
    for i, profile in enumerate(profiles[1:], start=1):
        where = item("profiles", i)
        if profile.plugins.queue_sort != canonical:
            detail, path = "must be the same for all profiles", f"{where}.plugins.queueSort"
            once = "" if errors else advice
            shown = profile.plugins.queue_sort
            earlier = f"queueSort {detail}"
            errors.append(FieldError.invalid(path, shown, detail, help=once, rule="queue-sort", earlier_detail=earlier))
        given = _args_of(profile, sorter)
        if given is not None and given != _args_of(profiles[0], sorter):
            detail = "queueSort must be the same for all profiles"
            raw, path = given if isinstance(given, bytes) else b"{}", f"{where}.pluginConfig.args"
            shown_args = Verbatim(raw.decode())
            errors.append(FieldError.invalid(path, shown_args, detail, rule="queue-sort", go_value=_go_unknown(raw)))
    return errors


def _args_of(profile: KubeSchedulerProfile, name: str) -> PluginArgs | bytes | None:
    return next((entry.args for entry in profile.plugin_config if entry.name == name), None)


def _go_unknown(raw: bytes) -> str:
    """JSON that upstream has not decoded, as Go prints it."""
    hexadecimal = ", ".join(f"{byte:#x}" for byte in raw)
    meta = 'runtime.TypeMeta{APIVersion:"", Kind:""}'
    ends = 'ContentEncoding:"", ContentType:"application/json"'
    return f"runtime.Unknown{{TypeMeta:{meta}, Raw:[]uint8{{{hexadecimal}}}, {ends}}}"


def _percentage_errors(where: str, percentage: int) -> list[FieldError]:
    return [] if 0 <= percentage <= 100 else [FieldError.invalid(where, percentage, "not in valid range [0-100]")]


def _backoff_errors(initial: int, maximum: int) -> list[FieldError]:
    errors = []
    if initial <= 0:
        errors.append(FieldError.invalid("podInitialBackoffSeconds", initial, "must be greater than 0"))
    if maximum < initial:
        detail = "must be greater than or equal to PodInitialBackoffSeconds"
        errors.append(FieldError.invalid("podMaxBackoffSeconds", maximum, detail))
    return errors


def _extenders_errors(extenders: tuple[ExtenderConfig, ...]) -> list[FieldError]:
    errors = []
    managed: set[str] = set()
    for i, extender in enumerate(extenders):
        where = item("extenders", i)
        if extender.prioritize_verb and extender.weight <= 0:
            detail = "must have a positive weight applied to it"
            errors.append(FieldError.invalid(f"{where}.weight", extender.weight, detail))
        for j, resource in enumerate(extender.managed_resources):
            path = f"{item(f'{where}.managedResources', j)}.name"
            errors += managed_resource_errors(path, resource.name, managed)
            managed.add(resource.name)
    binders = sum(bool(extender.bind_verb) for extender in extenders)
    if binders > 1:
        value = f"found {binders} extenders implementing bind"
        errors.append(FieldError.invalid("extenders", value, "only one extender can implement bind"))
    return errors


def managed_resource_errors(path: str, name: str, managed: Container[str]) -> list[FieldError]:
    """Find everything that is wrong with the name of a resource that an extender is to manage.

    Args:
        managed: names of the resources before it, of all extenders.
    """
    errors = qualified_name_errors(path, name, go_value=name)
    if not errors and not is_extended_resource(name):
        advice = "an extended resource has a domain that is not Kubernetes' own, such as example.com/gpu"
        errors.append(FieldError.invalid(path, name, "is an invalid extended resource name", help=advice))
    if name in managed:
        errors.append(FieldError.invalid(path, name, "duplicate extender managed resource name"))
    return errors
