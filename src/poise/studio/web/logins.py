"""Logins by the password: a session each, and few guesses."""

import ipaddress
import secrets
import time
from collections.abc import Callable

#: How long a login lasts in seconds, and how many there may be; the oldest ends.
LOGIN_SECONDS = 7 * 24 * 3600.0
MOST_LOGINS = 200
#: Wrong passwords that an address may try within an hour without a pause. They are its own, so that
#: whoever knows the password is not shut out by somebody who guesses from elsewhere.
FREE_TRIES = 5
HOUR = 3600.0
#: Seconds between two tries of those who had more than that, all together: whoever guesses may come
#: from many addresses. Doubled each time.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
#: Addresses whose wrong passwords are remembered; the oldest are forgotten.
MOST_ADDRESSES = 10_000


class Logins:
    """Who has given the password, and who may try."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[str, float] = {}
        self._wrong: dict[str, list[float]] = {}
        self._pause = FIRST_PAUSE / 2
        self._next_try = clock()

    def begin(self) -> str:
        """A session of its own: what the cookie holds."""
        token = secrets.token_urlsafe(24)
        while len(self._ends) >= MOST_LOGINS:
            del self._ends[next(iter(self._ends))]
        self._ends[token] = self._clock() + LOGIN_SECONDS
        return token

    def end(self, token: str) -> None:
        """Log out."""
        self._ends.pop(token, None)

    def is_one(self, token: str) -> bool:
        """Whether a cookie is that of a session which has not ended."""
        return self._ends.get(token, 0.0) > self._clock()

    def wait(self, address: str) -> float:
        """Seconds until somebody at this address may try; 0 for now."""
        if len(self._recent(address)) < FREE_TRIES:
            return 0.0
        return max(0.0, self._next_try - self._clock())

    def wrong(self, address: str) -> None:
        """Take note of a wrong password."""
        now, recent = self._clock(), self._recent(address)
        if len(recent) >= FREE_TRIES:
            # After an hour without such a try it begins anew.
            quiet = now - self._next_try > HOUR
            self._pause = FIRST_PAUSE if quiet else min(2 * self._pause, LONGEST_PAUSE)
            self._next_try = now + self._pause
        self._wrong.pop(_network(address), None)
        self._wrong[_network(address)] = [*recent[1 - FREE_TRIES :], now]
        while len(self._wrong) > MOST_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]

    def _recent(self, address: str) -> list[float]:
        since = self._clock() - HOUR
        return [at for at in self._wrong.get(_network(address), ()) if at > since]


def _network(address: str) -> str:
    """One machine: it has as many IPv6 addresses as it likes, but they begin alike."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address) and known.ipv4_mapped is None:
        return str(ipaddress.ip_network((known, 64), strict=False))
    return address
