"""/metrics: a registry with the usual series of Kubernetes' components, and the page that Prometheus reads."""

import asyncio
from typing import Final, TypeAlias

from aiohttp import web
from prometheus_client import CollectorRegistry, ProcessCollector, disable_created_metrics
from prometheus_client.exposition import choose_encoder

Registry: TypeAlias = CollectorRegistry
"""The series of one page."""

_COMPRESS_IN_THREAD: Final = 2**16  # bytes


def new_registry() -> Registry:
    """Build a registry that holds the `process_` series and nothing else yet.

    A custom collector is asked once when it is registered. Counters and histograms have no `_created` series, as Go's
    have none; prometheus_client keeps that switch for the whole process.
    """
    disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry(auto_describe=True)  # so that series of any collector can be selected
    ProcessCollector(registry=registry)
    return registry


def add_metrics(app: web.Application, registry: Registry, path: str = "/metrics") -> None:
    """Answer GET of a path in Prometheus' text format or, where asked for, OpenMetrics; `?name[]=` selects series.

    Collectors run in a separate thread, one page at a time, because a large page takes tens of milliseconds: they
    must not touch what belongs to the event loop's thread without taking a copy in one step.
    """
    one_at_a_time = asyncio.Lock()

    async def answer_metrics(request: web.Request) -> web.Response:
        try:
            encode, content_type = choose_encoder(",".join(request.headers.getall("Accept", ())))
        except (TypeError, ValueError):  # of a format in a version that is not a number
            encode, content_type = choose_encoder("")
        names = request.query.getall("name[]", ())
        async with one_at_a_time:
            page = await asyncio.to_thread(encode, registry.restricted_registry(names) if names else registry)
        answer = web.Response(body=page, headers={"Content-Type": content_type}, zlib_executor_size=_COMPRESS_IN_THREAD)
        answer.enable_compression()
        return answer

    app.router.add_get(path, answer_metrics)
