import asyncio

import pytest

from tests.serving.running import connected, hello, new_server, serving

ROUTES = [("POST", "/base/filter", hello), ("GET", "/{kind}/one", hello), ("GET", "/", hello)]


def ask(method, path):
    async def story():
        async with serving(new_server(ROUTES)) as server, connected(server) as client:
            return await client.ask(method, path)

    return asyncio.run(asyncio.wait_for(story(), 20))


@pytest.mark.parametrize(
    "path", ["/base/filter", "/base//filter", "//base/filter", "/base/filter/", "/base///filter//", "/base//filter?x=1"]
)
def test_spare_slashes_are_answered_in_place(path):
    status, _, text = ask("POST", path)
    assert (status, text) == (200, "hello POST")


@pytest.mark.parametrize("path", ["//", "/x//one", "///?q"])
def test_spare_slashes_meet_every_kind_of_route(path):
    assert ask("GET", path)[0] == 200


@pytest.mark.parametrize("path", ["/nothing", "//nothing//here", "/nothing/"])
def test_an_unknown_path_is_one_sentence(path):
    status, headers, text = ask("POST", path)
    assert (status, headers["content-type"]) == (404, "text/plain; charset=utf-8")
    assert text == f'no such path: "{path}"; expected one of /, /base/filter, /{{kind}}/one\n'


@pytest.mark.parametrize("path", ["/base/filter", "/base//filter/"])
def test_a_wrong_method_names_the_right_one(path):
    status, headers, text = ask("GET", path)
    assert (status, headers["allow"]) == (405, "POST")
    assert text == f'method GET is not allowed at "{path}"; allowed: POST\n'
