import re
import uuid

from kubesched.controllers.generated_names import generated_name, stable_uid, template_hash


def test_a_name_looks_like_one_of_kubernetes():
    assert re.fullmatch(r"web-[bcdfghjklmnpqrstvwxz2456789]{5}", generated_name("web-", 0))


def test_names_of_one_base_never_meet():
    assert len({generated_name("web-", i) for i in range(50_000)}) == 50_000


def test_a_long_base_is_cut_to_a_dns_label():
    assert len(generated_name("x" * 100 + "-", 1)) == 63


def test_names_hashes_and_uids_are_the_same_every_time():
    assert generated_name("web-", 3) == "web-9879l"
    assert template_hash(b"{}") == "67dns75th6"
    assert stable_uid("Pod", "shop", "web") == "d2fb3f94-bb16-5789-918a-b4c5005bbf7b"


def test_a_uid_is_a_uuid_of_version_5():
    namespace = uuid.UUID("6d1c3c9e-5f0b-5c39-9f86-3f8f7f1d0f5a")
    assert stable_uid("Pod", "shop", "web") == str(uuid.uuid5(namespace, "Pod/shop/web"))
