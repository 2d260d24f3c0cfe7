"""Configurations for tests, written short: the header is added, the in-tree arguments are known."""

import pytest

from kubesched.config import KubeSchedulerConfiguration, KubeSchedulerProfile, load_configuration
from kubesched.errors import ConfigError
from tests.setup.stand_ins import registry

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
ARGS_TYPES = registry().args_types


def load(body: str = "", args_types=ARGS_TYPES) -> KubeSchedulerConfiguration:
    return load_configuration(HEADER + body, args_types=args_types)


def load_profile(body: str, args_types=ARGS_TYPES) -> KubeSchedulerProfile:
    """The one profile of a configuration; `body` is a flow mapping."""
    return load(f"profiles: [{body}]", args_types).profiles[0]


def error_of(body: str, args_types=ARGS_TYPES) -> str:
    """What is said of a configuration that does not hold."""
    with pytest.raises(ConfigError) as caught:
        load(body, args_types)
    return str(caught.value)


def first_line(text: str) -> str:
    return text.partition("\n  ")[0]
