import pytest

from kubesched.config import effective, load_configuration
from kubesched.errors import ConfigError
from kubesched.release import DEFAULT_RELEASE
from tests.config.loading import error_of, first_line, load

V1 = "kubescheduler.config.k8s.io/v1"


def error_of_text(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_configuration(text, args_types={})
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "version"),
    [("KubeSchedulerConfiguration", f"{V1}beta3"), ("Policy", "v1"), ("KubeSchedulerConfiguration", f"{V1}alpha1")],
)
def test_an_older_form_is_refused_with_the_version_to_write(kind, version):
    message = error_of_text(f"kind: {kind}\napiVersion: {version}")
    assert message.startswith(f'no kind "{kind}" is registered for version "{version}"\n')
    assert message.endswith("`kubesched config convert FILE` converts it")


@pytest.mark.parametrize(
    ("kind", "version", "advice"),
    [
        (
            "KubeSchedulerConfiguration",
            f"{V1}beta9",
            "no such version; the older ones are v1alpha1, v1alpha2, ",
        ),
        ("KubeSchedulerConfiguration", "kubescheduler.config.k8s.io/XVERSIONX", "v1beta2 and v1beta3"),
        ("NodeResourcesFitArgs", "kubescheduler.config.k8s.io/v2", "there is no such version"),
        ("Policy", f"{V1}beta1", "a Policy has apiVersion: v1, and `kubesched config convert FILE` converts it then"),
    ],
)
def test_a_version_that_never_was_is_not_converted(kind, version, advice):
    message = error_of_text(f"kind: {kind}\napiVersion: {version}")
    assert message.startswith(f'no kind "{kind}" is registered for version "{version}"\n')
    assert advice in message
    assert not message.endswith("`kubesched config convert FILE` converts it")


def test_another_object_is_not_a_configuration():
    assert error_of_text("kind: Pod\napiVersion: v1") == (
        'no kind "Pod" is registered for version "v1"\n'
        f"  not a scheduler configuration; expected kind: KubeSchedulerConfiguration, apiVersion: {V1}"
    )


def test_a_wrong_kind_of_the_group_is_refused_with_the_kinds_of_v1():
    message = error_of_text(f"kind: SchedulerConfiguration\napiVersion: {V1}")
    assert f"\n  expected apiVersion: {V1}; its kinds: DefaultPreemptionArgs, " in message
    assert "convert" not in message


def test_what_is_no_mapping_is_refused():
    assert error_of_text("[a]") == 'couldn\'t get version/kind; json parse error: expected an object, found ["a"]'


def test_a_kind_that_is_no_text_is_refused():
    assert first_line(error_of_text("kind: 5")) == (
        "couldn't get version/kind; json parse error: kind: expected a string, found 5"
    )


ARGS = "profiles: [{{pluginConfig: [{{name: NodeResourcesFit, args: {args}}}]}}]"


@pytest.mark.parametrize("args", ["{kind: NodeResourcesFitArgs}", f"{{apiVersion: {V1}}}", "null", "{}"])
def test_kind_and_version_of_arguments_are_optional(args):
    assert effective(load(ARGS.format(args=args)), DEFAULT_RELEASE) == effective(load(), DEFAULT_RELEASE)


def test_arguments_of_an_unknown_kind_are_refused():
    assert first_line(error_of(ARGS.format(args="{kind: Foo}"))) == (
        "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: "
        f'no kind "Foo" is registered for version "{V1}"'
    )
