import pytest

from kubesched.errors import InputError
from kubesched.naming import find_pod
from kubesched.naming.pod_names import suggestion
from kubesched.testing import make_pod

PODS = [
    make_pod(name, namespace=namespace)
    for namespace, name in (
        ("shop", "web-5f7d9-abcde"),
        ("shop", "web-5f7d9-fghij"),
        ("shop", "redis-0"),
        ("shop", "redis-1"),
        ("prod", "newsletter-77"),
    )
]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("shop/web", 'did you mean "shop/web-5f7d9-abcde" or "shop/web-5f7d9-fghij"?'),
        ("web-5f7d9-xxxxx", 'did you mean "web-5f7d9-abcde" or "web-5f7d9-fghij"?'),
        ("shop/redis-7", 'did you mean "shop/redis-0" or "shop/redis-1"?'),
        ("redsi-0", 'did you mean "redis-0" or "redis-1"?'),
        ("shpo/redis-0", 'no pod is in namespace "shpo"; did you mean "shop/redis-0"?'),
        ("prod/web-5f7d9-abcde", 'did you mean "shop/web-5f7d9-abcde"?'),
        ("prod/web-7", "no pod of that namespace has a similar name"),
        ("other/redis-1", 'no pod is in namespace "other"; did you mean "shop/redis-1"?'),
        ("prdo/qqq", 'no pod is in namespace "prdo"; add them'),
        ("zzz", "write namespace/name; add them"),
        ("shop/wbe", 'did you mean "shop/web-5f7d9-abcde" or "shop/web-5f7d9-fghij"?'),
        ("prod/newsleter", 'did you mean "prod/newsletter-77"?'),
        ("", "write namespace/name"),
    ],
)
def test_names_that_begin_alike_come_before_those_that_are_spelt_alike(wrong: str, said: str):
    assert suggestion(wrong, PODS, "add them").startswith(said)


def test_three_names_are_offered_and_the_rest_is_counted():
    pods = [make_pod(f"web-{i}") for i in range(5)]
    assert suggestion("web", pods) == 'did you mean "web-0" or "web-1" or "web-2" or one of 2 more?'


def test_a_pod_is_found_by_its_name_alone_where_only_one_has_it():
    assert find_pod([make_pod("web", namespace="shop")], "web").namespace == "shop"


def test_a_name_that_several_pods_have_needs_its_namespace():
    pods = [make_pod("web", namespace="shop"), make_pod("web", namespace="dev")]
    assert find_pod(pods, "dev/web").namespace == "dev"
    with pytest.raises(InputError, match='several pods have the name "web": shop/web, dev/web'):
        find_pod(pods, "web")


def test_a_wrong_name_is_answered_with_the_nearest_one():
    with pytest.raises(InputError, match='no pod has the name "shop/wep"; did you mean "shop/web"'):
        find_pod([make_pod("web", namespace="shop")], "shop/wep")
