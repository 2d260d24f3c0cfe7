"""Passwords and keys are not in what is shown of a configuration."""

from kubesched.config import differences, effective, without_secrets
from kubesched.release import DEFAULT_RELEASE
from kubesched.setup import load_configuration

TEXT = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: "https://me:{password}@devices/x"
  filterVerb: filter
  tlsConfig: {{certData: Y2VydA==, keyData: {key}}}
"""
SECRETS = ("word", "a2V5")


def document(password: str = "word", key: str = "a2V5") -> dict:
    return effective(load_configuration(TEXT.format(password=password, key=key).encode()), DEFAULT_RELEASE)


def test_a_password_and_a_key_are_replaced_and_nothing_else() -> None:
    (extender,) = without_secrets(document())["extenders"]
    assert extender["urlPrefix"] == "https://me:***@devices/x"
    assert extender["tlsConfig"] == {"certData": "Y2VydA==", "keyData": "***"}
    without = effective(load_configuration(), DEFAULT_RELEASE)
    assert without_secrets(without) == without


def test_a_document_keeps_its_secrets() -> None:
    kept = document()
    without_secrets(kept)
    assert kept == document()


def test_a_difference_in_a_secret_is_found_and_the_secret_is_not_shown() -> None:
    others = [document(key="b3RoZXI="), document(password="other")]
    for other in others:
        lines = [str(change) for change in differences(document(), other)]
        assert lines
        assert not any(secret in line for line in lines for secret in (*SECRETS, "other", "b3RoZXI"))


def test_the_secrets_of_a_difference_are_not_in_its_fields() -> None:
    for other in (document(key="b3RoZXI="), effective(load_configuration(), DEFAULT_RELEASE)):
        for change in differences(document(), other):
            assert not any(secret in f"{change.path} {change.old} {change.new}" for secret in SECRETS)
