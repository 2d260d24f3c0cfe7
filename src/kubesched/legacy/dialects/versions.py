"""Turns a configuration of any older version into a v1 document: one function for each version."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from kubesched.config import (
    API_VERSION,
    FIRST_VERSION,
    GROUP,
    KIND,
    POLICY,
    advice_on_missing,
    convert,
    error_of,
    is_bare_policy,
    parse_value,
    policy_fields,
    quoted,
    select_known,
    take_type_meta,
)
from kubesched.documents import joined
from kubesched.errors import ConfigError
from kubesched.legacy.conversion import Conversion, Document, Notice, PolicySources, Use
from kubesched.legacy.dialects.forgiving import faults_error, read_forgiving
from kubesched.legacy.dialects.old_profiles import LATER_PLUGINS, needs_no_lists, own_args, v1_profile
from kubesched.legacy.dialects.policy import PolicyParts, read_policy
from kubesched.legacy.dialects.released import PROVIDERS, V1BETA1, V1BETA2, Base
from kubesched.legacy.dialects.replaced import RENAMED
from kubesched.legacy.dialects.shapes import OldConfiguration, V1Alpha1

_ADDRESSES: Final = ("healthzBindAddress", "metricsBindAddress")
_PROFILE_FIELDS: Final = ("schedulerName", "plugins", "pluginConfig")
_NO_SOURCES: Final = PolicySources()


class _Remarks(msgspec.Struct):
    """What a conversion has to say beside its document."""

    notices: list[Notice] = []
    uses: list[Use] = []

    def add(self, policy: PolicyParts) -> None:
        """Take over what a Policy has."""
        self.notices += policy.notices
        self.uses += policy.uses


def is_older(document: Any) -> bool:
    """Whether this is a configuration of a version before v1, or a Policy."""
    if not isinstance(document, dict):
        return False
    if is_bare_policy(document):
        return True
    names = (document.get("kind"), document.get("apiVersion"))
    return all(isinstance(name, str) for name in names) and names in _VERSIONS


def convert_older(document: Any, sources: PolicySources = _NO_SOURCES) -> Conversion:
    """Make a v1 document of an older one.

    Args:
        document: `is_older` holds.
        sources: where a Policy is that the document refers to.
    Raises:
        ConfigError: the document is not valid in its own version.
    """
    origin = f"Policy v1 ({_known_by(document)})" if is_bare_policy(document) else ""
    kind, version, body = take_type_meta(dict(document))
    remarks = _Remarks()
    converted = (_from_policy if origin else _VERSIONS[kind, version])(body, sources, remarks)
    whole = {"apiVersion": API_VERSION, "kind": KIND, **converted}
    origin = origin or (f"Policy {version}" if kind == POLICY else version)
    return Conversion(origin, whole, tuple(dict.fromkeys(remarks.notices)), tuple(remarks.uses))


def _from_v1beta3(body: Document, _: PolicySources, remarks: _Remarks) -> Document:
    """The defaults are v1's; plugins that are gone are replaced where the file names them."""
    document = _checked(body)
    _drop_addresses(document, remarks)
    document["profiles"] = [_current_names(profile) for profile in document.get("profiles", ())]
    return document


def _from_v1beta2(body: Document, _: PolicySources, remarks: _Remarks) -> Document:
    return _with_profiles(_checked(body), V1BETA2, remarks)


def _from_v1beta1(body: Document, _: PolicySources, remarks: _Remarks) -> Document:
    return _with_profiles(_checked(body), V1BETA1, remarks)


def _from_v1alpha2(body: Document, _: PolicySources, remarks: _Remarks) -> Document:
    return _with_profiles(_checked(body), PROVIDERS["DefaultProvider"], remarks)


def _from_v1alpha1(body: Document, sources: PolicySources, remarks: _Remarks) -> Document:
    """The one profile of the top level moves into `profiles`; a Policy gives its plugins and the extenders."""
    read = read_forgiving(body, V1Alpha1)
    if read.wrong:
        raise faults_error(read.wrong, sources.text)
    document = read.known
    remarks.notices += read.ignored
    source, weight = document.pop("algorithmSource", {}), document.pop("hardPodAffinitySymmetricWeight", 0)
    if source.get("policy") is not None:
        parts = _policy_in(source["policy"], sources)
        base = parts.base
        remarks.add(parts)
        document["extenders"] = parts.extenders
    else:
        base = _provider(read.value.algorithm_source.provider)
    if weight:
        base = Base(base.plugins, {**base.args, "InterPodAffinity": {"hardPodAffinityWeight": weight}})
    profile = {field: document.pop(field) for field in _PROFILE_FIELDS if field in document}
    plugins = profile.get("plugins", {})
    if "postFilter" in plugins:  # the name of preScore up to v1.17
        plugins.setdefault("preScore", plugins.pop("postFilter"))
        remarks.notices.append(Notice("postFilter of v1alpha1 is preScore today"))
    election = document.get("leaderElection", {})
    for old, new in (("lockObjectName", "resourceName"), ("lockObjectNamespace", "resourceNamespace")):
        if old in election:
            election[new] = election.pop(old)
    document["profiles"] = [profile]
    return _with_profiles(document, base, remarks)


def _from_policy(body: Document, sources: PolicySources, remarks: _Remarks) -> Document:
    parts = read_policy(body, sources.text)
    remarks.add(parts)
    document = _with_profiles({}, parts.base, remarks)
    if parts.extenders:
        document["extenders"] = parts.extenders
    return document


def _provider(name: str | None) -> Base:
    if (name or "DefaultProvider") not in PROVIDERS:
        text = f"algorithm provider {quoted(name or '')} is not registered"
        raise ConfigError(f"{text}\n  algorithmSource.provider: expected one of {', '.join(PROVIDERS)}")
    return PROVIDERS[name or "DefaultProvider"]


def _policy_in(source: Document, sources: PolicySources) -> PolicyParts:
    """The Policy that a v1alpha1 configuration refers to."""
    if "file" in source:
        where = source["file"].get("path", "")
        text = sources.read_file(where)
    elif "configMap" in source:
        namespace, name = (source["configMap"].get(field, "") for field in ("namespace", "name"))
        where = f"ConfigMap {namespace}/{name}"
        text = sources.config_map(namespace, name)
    else:
        raise ConfigError("algorithmSource.policy: expected file or configMap, found neither")
    try:
        document = parse_value(text).value
        known_by = _known_by(document) if is_bare_policy(document) else ""
        kind, version, body = take_type_meta(document)
        if not known_by and not (kind == POLICY and (kind, version) in _VERSIONS):
            advice = "" if kind and version else f"\n  {advice_on_missing(kind, version, body)}"
            found = f"found {kind or 'no kind'} of {version or 'no apiVersion'}"
            raise ConfigError(f"expected kind: Policy and apiVersion: v1, {found}{advice}")
    except ConfigError as error:
        raise ConfigError(f"couldn't read policy config: {error}\n  in {where}") from None
    try:
        parts = read_policy(body, text)
    except ConfigError as error:
        raise ConfigError(f"{error}\n  in {where}") from None
    if known_by:
        parts.notices.insert(0, Notice(f"{where} was read as Policy v1: {known_by}"))
    return parts


def _known_by(policy: Document) -> str:
    """Why a document without kind and apiVersion is a Policy."""
    return f"it has neither kind nor apiVersion, but {joined(policy_fields(policy))}"


def _checked(body: Document) -> Document:
    """The document with null fields left out.

    Raises:
        ConfigError: it has fields that no version knows, or values of a wrong type.
    """
    known, unknown = select_known(body, OldConfiguration)
    if findings := [*unknown, *convert(known, OldConfiguration)[1]]:
        raise error_of(findings)
    document: Document = known
    return document


def _with_profiles(document: Document, base: Base, remarks: _Remarks) -> Document:
    """Convert what all versions before v1beta3 have in common."""
    _drop_addresses(document, remarks)
    profiles = document.get("profiles") or [{}]
    if document.pop("disablePreemption", False):
        profiles = [_without_preemption(profile) for profile in profiles]
    if timeout := document.pop("bindTimeoutSeconds", 0):
        base = Base(base.plugins, {**base.args, "VolumeBinding": {"bindTimeoutSeconds": timeout}})
    if not needs_no_lists(profiles):  # v1 wants the same queueSort in all
        base = msgspec.structs.replace(base, weights={})
    for i, profile in enumerate(profiles):
        remarks.notices += _without_effect(profile, f"profiles[{i}]")
    document["profiles"] = [v1_profile(profile, base) for profile in profiles]
    return document


def _without_effect(profile: Document, where: str) -> list[Notice]:
    """What multiPoint does not disable: its defaults were at the extension points before v1beta3."""
    disabled = profile.get("plugins", {}).get("multiPoint", {}).get("disabled", ())
    later = {entry.name for entry in LATER_PLUGINS}
    names = [entry["name"] for entry in disabled if entry.get("name") and entry["name"] not in later]
    if not names:
        return []
    text = (
        f"multiPoint.disabled of {', '.join(names)} had no effect, and is left out: this version enables the default "
        "plugins at the extension points; disable them there"
    )
    return [Notice(text, where)]


def _drop_addresses(document: Document, remarks: _Remarks) -> None:
    for field in _ADDRESSES:
        address = document.pop(field, "")
        if address and not address.endswith(":0") and address != "0":
            text = f"{field} {address}: health and metrics are served by HTTPS at --bind-address and --secure-port"
            remarks.notices.append(Notice(text))
    election = document.get("leaderElection", {})
    if "resourceLock" in election and election["resourceLock"] not in ("", "leases"):
        text = (
            f"resourceLock {election['resourceLock']} is gone: schedulers that share this lock have to use leases, too"
        )
        remarks.notices.append(Notice(text, "leaderElection.resourceLock"))
        election["resourceLock"] = "leases"


def _without_preemption(profile: Document) -> Document:
    plugins = profile.get("plugins", {})
    post_filter = plugins.get("postFilter", {})
    disabled = [*post_filter.get("disabled", ()), {"name": "DefaultPreemption"}]
    return {**profile, "plugins": {**plugins, "postFilter": {**post_filter, "disabled": disabled}}}


def _current_names(profile: Document) -> Document:
    """A profile of v1beta3 with the plugins of v1."""
    converted = dict(profile)
    if "plugins" in profile:
        converted["plugins"] = {point: _current_set(plugin_set) for point, plugin_set in profile["plugins"].items()}
    if "pluginConfig" in profile:
        entries = own_args(profile).items()
        converted["pluginConfig"] = [{"name": name, "args": args} for name, args in entries if name not in RENAMED]
    return converted


def _current_set(plugin_set: Document) -> Document:
    given = plugin_set.get("enabled", [])
    names = {entry.get("name") for entry in given}
    kept = []
    for entry in given:
        new = RENAMED.get(entry.get("name"), "")
        if not new:
            kept.append(entry)
        elif new not in names:
            names.add(new)
            kept.append({**entry, "name": new})
    disabled = [entry for entry in plugin_set.get("disabled", ()) if entry.get("name") not in RENAMED]
    return {key: entries for key, entries in (("enabled", kept), ("disabled", disabled)) if entries}


_Step = Callable[[Document, PolicySources, _Remarks], Document]
_VERSIONS: Final[dict[tuple[Any, Any], _Step]] = {
    (KIND, f"{GROUP}/v1beta3"): _from_v1beta3,
    (KIND, f"{GROUP}/v1beta2"): _from_v1beta2,
    (KIND, f"{GROUP}/v1beta1"): _from_v1beta1,
    (KIND, f"{GROUP}/v1alpha2"): _from_v1alpha2,
    (KIND, f"{GROUP}/v1alpha1"): _from_v1alpha1,
    (KIND, FIRST_VERSION): _from_v1alpha1,
    (POLICY, "v1"): _from_policy,
    (POLICY, f"{GROUP}/v1"): _from_policy,
}
"""The conversion of each older kind and version."""
