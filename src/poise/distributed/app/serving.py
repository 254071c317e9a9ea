"""Serving the app at rank 0 until somebody stops it or a rank is lost."""

import os
import signal
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

from poise.distributed.app.project import OpenAtRanks
from poise.distributed.learner import DistributedLearner
from poise.studio.web.serve import serve

#: After a loss, the page has so much time to fetch the reason. It asks every two seconds.
GRACE_SECONDS = 6.0


def serve_until_lost(
    opened: OpenAtRanks,
    learner: DistributedLearner,
    port: int,
    ready: Callable[[list[str]], None],
    *,
    grace: float = GRACE_SECONDS,
) -> None:
    """Serve the app; after the loss of a rank, the page says so and the error is raised.

    Parameters
    ----------
    ready : called with the addresses of the page
    grace : seconds between the loss of a rank and the end of the server
    """

    def lost(error: BaseException) -> None:
        opened.lost = f"{type(error).__name__}: {error}."
        timer = threading.Timer(grace, os.kill, (os.getpid(), signal.SIGTERM))
        timer.daemon = True
        timer.start()

    def at(addresses: list[str]) -> None:
        learner.serving(urlsplit(addresses[0]).port or 0)
        ready(addresses)

    learner.when_lost = lost
    try:
        serve(opened, port=port, ready=at)
    except (KeyboardInterrupt, SystemExit):
        if learner.lost is None:
            return
    finally:
        opened.close()  # also if it was never served: the other ranks end after the last question
    if learner.lost is not None:
        raise learner.lost
