"""The client that the other tests use; this one needs no API server."""

import gc
import warnings

import pytest

from tests.integration.api_client import ApiClient


def test_a_call_of_a_closed_client_leaves_no_coroutine_for_the_next_test_to_complain_about() -> None:
    client = ApiClient("http://127.0.0.1:1")
    client.close()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="Event loop is closed"):
            client.call("GET", "/readyz")
        gc.collect()
    assert [str(one.message) for one in caught] == []
