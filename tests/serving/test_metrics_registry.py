import asyncio
import gzip
import threading

import pytest
from aiohttp import web
from prometheus_client import Counter, Histogram
from prometheus_client.core import GaugeMetricFamily

from kubesched.serving import add_metrics, new_registry
from tests.serving.running import connected, new_server, serving


@pytest.fixture
def registry():
    return new_registry()


def scrape(registry, path="/metrics", headers=()):
    """Return the answer's headers and its body as text, latin-1 so that every byte comes through."""

    async def story():
        app = web.Application()
        add_metrics(app, registry)
        async with serving(new_server(app=app)) as server, connected(server) as client:
            await client.send("GET", path, headers=headers)
            head = (await client.reader.readuntil(b"\r\n\r\n")).decode().lower()
            size = int(head.partition("content-length: ")[2].split()[0])
            return head, await client.reader.readexactly(size)

    return asyncio.run(asyncio.wait_for(story(), 20))


def test_series_are_those_that_go_has(registry):
    Counter("schedule_attempts", "Attempts.", registry=registry).inc()
    Histogram("duration_seconds", "Seconds.", registry=registry).observe(1)
    head, page = scrape(registry)
    assert "content-type: text/plain; version=" in head
    assert b"\nschedule_attempts_total 1.0\n" in page
    assert b'\nduration_seconds_bucket{le="1.0"} 1.0\n' in page
    assert b"_created" not in page


def test_the_process_is_measured(registry):
    _, page = scrape(registry)
    assert b"\nprocess_resident_memory_bytes " in page
    assert b"\nprocess_cpu_seconds_total " in page


def test_open_metrics_is_given_to_who_asks(registry):
    head, page = scrape(registry, headers=["Accept: application/openmetrics-text; version=1.0.0,text/plain;q=0.5"])
    assert "content-type: application/openmetrics-text; version=1.0.0" in head
    assert page.endswith(b"# EOF\n")


@pytest.mark.parametrize("version", ["x", "1.x", "", "1..0", "1", "9.9.9.9"])
def test_a_format_in_a_version_that_is_none_is_answered_with_the_usual_one(registry, version):
    head, page = scrape(registry, headers=[f"Accept: application/openmetrics-text; version={version}"])
    assert head.startswith("http/1.1 200 ok")
    assert b"process_resident_memory_bytes" in page


def test_series_can_be_selected(registry):
    _, page = scrape(registry, "/metrics?name[]=process_open_fds")
    assert [line.split()[0] for line in page.splitlines() if not line.startswith(b"#")] == [b"process_open_fds"]


def test_a_page_is_compressed_for_who_asks(registry):
    head, page = scrape(registry, headers=["Accept-Encoding: gzip"])
    assert "content-encoding: gzip" in head
    assert b"process_resident_memory_bytes" in gzip.decompress(page)


def test_a_page_is_not_made_on_the_event_loop(registry):
    threads = []

    class Watcher:
        def collect(self):
            threads.append(threading.current_thread())
            yield GaugeMetricFamily("seen", "Once.", value=1)

    registry.register(Watcher())
    threads.clear()  # registering collects once
    scrape(registry)
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()
