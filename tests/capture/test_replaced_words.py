import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import is_extended_resource, is_label_value
from kubesched.capture.replaced_words import ReplacedWords
from kubesched.errors import InputError
from tests.trials import examples

UID = "0f3c9a52-11aa-4b7e-9c00-5d1e2f3a4b5c"


def test_words_are_replaced_and_separators_stay() -> None:
    words = ReplacedWords(["web-7f9c", "web", "shop.acme.com/tier"])
    assert words("web-7f9c") == f"{words('web')}-{words('7f9c')}"
    assert [len(part) for part in words("shop.acme.com/tier").replace("/", ".").split(".")] == [3, 3, 3, 3]
    assert "web" not in words("web-7f9c")


def test_the_claim_of_an_ephemeral_volume_follows_from_both_names() -> None:
    words = ReplacedWords(["db-0", "data", "db-0-data"])
    assert words("db-0-data") == f"{words('db-0')}-{words('data')}"


def test_a_uid_is_one_word() -> None:
    words = ReplacedWords([UID, f"pvc-{UID}"])
    assert words(f"pvc-{UID}") == f"{words('pvc')}-{words(UID)}"
    assert "-" not in words(UID)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "topology.kubernetes.io/zone",
        "app.kubernetes.io/name",
        "node-role.kubernetes.io/control-plane",
        "ebs.csi.aws.com",
        "topology.ebs.csi.aws.com/zone",
        "kube-system",
        "default",
        "system-node-critical",
        "metadata.name",
        "registry.k8s.io/pause:3.10",
        "nvidia.com/gpu",
        "nvidia.com/mig-1g.5gb",
        "karpenter.sh/nodepool",
        "eu-west-1a",
        "europe-west1-b",
        "westeurope-2",
        "us-east-2",
    ],
)
def test_what_rules_read_literally_stays(text: str) -> None:
    assert ReplacedWords([text])(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "node-role.kubernetes.io/payments",
        "kubernetes.io/cluster/payments",
        "payments.node-restriction.kubernetes.io/x",
        "mirror.payments.example/registry.k8s.io/pause",
        "payments.k8s.io/x",
        "k8s.io/payments",
        "payments.kubernetes.io/master",
        "app.kubernetes.io/payments",
        "topology.kubernetes.io/payments",
        "kubernetes.io/payments",
        "karpenter.sh/payments",
        "nvidia.com/payments",
        "payments-west-1a",
        "eu-payments-1",
    ],
)
def test_names_that_somebody_chose_below_kubernetes_io_are_replaced(text: str) -> None:
    replaced = ReplacedWords([text])(text)
    assert "payments" not in replaced
    assert replaced.count("/") == text.count("/")


def test_an_extended_resource_stays_one() -> None:
    replaced = ReplacedWords(["acme.com/gpu"])("acme.com/gpu")
    assert is_extended_resource(replaced)
    assert "acme" not in replaced


def test_a_label_value_of_many_words_stays_short_enough() -> None:
    text = ".".join("abcdefghijklmnopqrstuvwxyz")
    for salt in ("", "s"):
        replaced = ReplacedWords([text, "a", "b"], salt)(text)
        assert is_label_value(replaced)
        assert replaced != ReplacedWords([text, "a", "b"], salt)("a")


def test_an_image_of_many_words_keeps_its_tag() -> None:
    image = "1.dkr.ecr.eu-west-1.amazonaws.com/a/b/c/d/e/f:7"
    for salt in ("", "s"):
        replaced = ReplacedWords([image], salt)(image)
        assert replaced.count("/") == image.count("/")
        assert replaced.count(":") == 1


def test_used_has_the_words_that_were_given_out() -> None:
    words = ReplacedWords(["web-7f9c", "never-given-out"])
    replaced = words("web-7f9c")
    assert {replacement: words.used[replacement] for replacement in replaced.split("-")} == words.used
    assert set(words.used.values()) == {"web", "7f9c"}


def test_the_same_salt_gives_the_same_replacements_in_other_company() -> None:
    alone, among = ReplacedWords(["web"], "s"), ReplacedWords(["web", "api", "zoo-1"], "s")
    assert alone("web") == among("web")
    assert alone("web") != ReplacedWords(["web"], "t")("web")


def test_two_words_with_one_replacement_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched.capture.replaced_words._HASH_LENGTH", 0)
    with pytest.raises(InputError, match="choose another salt"):
        ReplacedWords(["web", "api"], "s")


names = st.lists(st.from_regex(r"[b-y][a-z0-9]{0,3}(?:[-.][a-z0-9]{1,3}){0,2}", fullmatch=True), max_size=12)


@examples(50)
@given(names)
def test_names_compare_as_before(texts: list[str]) -> None:
    words = ReplacedWords(texts)
    assert [words(text) for text in sorted(texts)] == sorted(words(text) for text in texts)
    assert len({words(text) for text in texts}) == len(set(texts))
