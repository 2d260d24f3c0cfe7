import json

import pytest

from kubesched.serving import redacted_headers, redacted_json

HIDDEN = "[hidden]"


def redact(document):
    return json.loads(redacted_json(json.dumps(document)))


def test_headers_that_carry_credentials_are_hidden():
    headers = {"Authorization": "Bearer abc", "cookie": "a=b", "X-Auth-Token": "t", "User-Agent": "Go"}
    assert redacted_headers(headers) == {
        "Authorization": HIDDEN,
        "cookie": HIDDEN,
        "X-Auth-Token": HIDDEN,
        "User-Agent": "Go",
    }


@pytest.mark.parametrize("field", ["data", "stringData"])
def test_the_data_of_a_secret_is_hidden_and_its_keys_are_not(field):
    secret = {"kind": "Secret", "metadata": {"name": "s"}, field: {"a": "1", "b": "2"}}
    assert redact({"object": secret}) == {"object": {**secret, field: {"a": HIDDEN, "b": HIDDEN}}}


def test_the_secrets_of_a_list_are_hidden_though_they_do_not_say_their_kind():
    assert redact({"kind": "SecretList", "items": [{"data": {"a": "1"}}]})["items"] == [{"data": {"a": HIDDEN}}]


def test_the_data_of_a_config_map_stays():
    config_map = {"kind": "ConfigMap", "data": {"a": "1"}}
    assert redact(config_map) == config_map


def test_what_kubectl_applied_last_is_hidden():
    key = "kubectl.kubernetes.io/last-applied-configuration"
    assert redact({"annotations": {key: "{...}", "a": "b"}}) == {"annotations": {key: HIDDEN, "a": "b"}}


def test_environment_variables_are_hidden_by_their_name():
    env = [{"name": "DB_PASSWORD", "value": "x"}, {"name": "AWS_SECRET_ACCESS_KEY", "value": "y"}]
    plain = [
        {"name": "PORT", "value": "80"},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
    ]
    found = redact({"env": env + plain})["env"]
    assert found == [{**variable, "value": HIDDEN} for variable in env] + plain


def test_values_under_telling_names_are_hidden():
    assert redact({"token": "t", "clientPassword": "p", "user": "u"}) == {
        "token": HIDDEN,
        "clientPassword": HIDDEN,
        "user": "u",
    }


def test_names_of_secrets_are_no_secrets():
    volume = {"volumes": [{"secret": {"secretName": "s"}}], "imagePullSecrets": [{"name": "pull"}]}
    assert redact(volume) == volume


@pytest.mark.parametrize("text", ['{"token": "abc"', b"\xff", "Bearer abc"])
def test_of_what_is_no_json_only_the_length_is_told(text):
    assert redacted_json(text) == f"[{len(text)} bytes that are no JSON]"
