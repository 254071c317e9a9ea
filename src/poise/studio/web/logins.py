"""Logins with the password: one session each, and few attempts."""

import ipaddress
import secrets
import time
from collections.abc import Callable

#: How long a login lasts, and how many are valid at once; beyond that the oldest ends.
LOGIN_SECONDS = 7 * 24 * 3600.0
MAX_LOGINS = 200
#: Wrong passwords that an address may try within an hour without a pause. Each address has its own
#: count, so that guesses from elsewhere do not lock out people who know the password.
FREE_ATTEMPTS = 5
HOUR_SECONDS = 3600.0
#: Beyond that, all addresses share one pause between two attempts, since guesses may come from many
#: addresses. It doubles each time.
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 60.0
#: Addresses whose wrong passwords are counted; beyond that the oldest are forgotten.
MAX_ADDRESSES = 10_000


class Logins:
    """Sessions of people who gave the password, and pauses after wrong ones."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[str, float] = {}
        self._wrong: dict[str, list[float]] = {}
        self._pause = FIRST_PAUSE_SECONDS / 2
        self._next_attempt = clock()

    def begin(self) -> str:
        """Begin a session; returns the token for its cookie."""
        token = secrets.token_urlsafe(24)
        while len(self._ends) >= MAX_LOGINS:
            del self._ends[next(iter(self._ends))]
        self._ends[token] = self._clock() + LOGIN_SECONDS
        return token

    def end(self, token: str) -> None:
        """End a session."""
        self._ends.pop(token, None)

    def is_valid(self, token: str) -> bool:
        """Whether a token is that of a session which has not ended."""
        return self._ends.get(token, 0.0) > self._clock()

    def wait(self, address: str) -> float:
        """Seconds until this address may try a password; 0 if it may at once."""
        if len(self._recent(address)) < FREE_ATTEMPTS:
            return 0.0
        return max(0.0, self._next_attempt - self._clock())

    def wrong(self, address: str) -> None:
        """Count a wrong password."""
        now, recent = self._clock(), self._recent(address)
        if len(recent) >= FREE_ATTEMPTS:
            # After an hour without such an attempt, the pause is short again.
            is_quiet = now - self._next_attempt > HOUR_SECONDS
            longer = min(2 * self._pause, MAX_PAUSE_SECONDS)
            self._pause = FIRST_PAUSE_SECONDS if is_quiet else longer
            self._next_attempt = now + self._pause
        self._wrong.pop(_network(address), None)
        self._wrong[_network(address)] = [*recent[1 - FREE_ATTEMPTS :], now]
        while len(self._wrong) > MAX_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]

    def _recent(self, address: str) -> list[float]:
        since = self._clock() - HOUR_SECONDS
        return [at for at in self._wrong.get(_network(address), ()) if at > since]


def _network(address: str) -> str:
    """The network of an address: a machine may have many IPv6 addresses, which begin alike."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address) and known.ipv4_mapped is None:
        return str(ipaddress.ip_network((known, 64), strict=False))
    return address
