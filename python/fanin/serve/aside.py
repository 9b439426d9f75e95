"""Work of a request in a thread that the server's end does not wait for."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


async def aside(work: Callable[[], _T]) -> _T:
    """What some work returns or raises; only who waits is cancelled, and a process does not wait for the thread."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_T] = loop.create_future()

    def told(tell: Callable[[], None]) -> None:
        def unless_cancelled() -> None:
            if not done.done():
                tell()

        # The loop is closed when the server has ended.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(unless_cancelled)

    def run() -> None:
        try:
            found = work()
        except Exception as error:
            raised = error
            told(lambda: done.set_exception(raised))
        else:
            told(lambda: done.set_result(found))

    threading.Thread(target=run, daemon=True).start()
    return await done
