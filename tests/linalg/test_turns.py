"""Threads that share the solver take turns in the order in which they asked."""

import threading
import time

import pytest

from poise.linalg.turns import Turns


def test_one_thread_at_a_time():
    turns, inside, most = Turns(), 0, 0

    def work():
        nonlocal inside, most
        for _ in range(50):
            with turns:
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_thread_that_asks_again_waits_for_earlier_ones():
    turns, order = Turns(), []

    def short():
        with turns:
            order.append("short")

    with turns:
        thread = threading.Thread(target=short)
        thread.start()
        while not turns._waiting:
            time.sleep(0.001)
    with turns:  # asked for at once, yet the other one came first
        order.append("long")
    thread.join()
    assert order == ["short", "long"]


def test_an_error_inside_releases_the_lock():
    turns = Turns()
    with pytest.raises(ValueError, match="inside"), turns:
        raise ValueError("inside")
    with turns:
        pass


def test_an_interrupted_wait_leaves_the_queue(monkeypatch):
    turns = Turns()

    class Interrupted(threading.Event):
        def wait(self, timeout=None):
            raise KeyboardInterrupt

    with turns:
        monkeypatch.setattr(threading, "Event", Interrupted)
        with pytest.raises(KeyboardInterrupt), turns:
            pass
        monkeypatch.undo()
        assert not turns._waiting
    with turns:
        pass


def test_background_work_waits_for_urgent_work():
    turns, order = Turns(), []
    began = threading.Event()

    def background():
        with turns.in_background():
            began.set()
            with turns:
                order.append("background")

    with turns.urgent():
        thread = threading.Thread(target=background)
        thread.start()
        assert began.wait(10)
        with turns:
            order.append("urgent")
    thread.join()
    assert order == ["urgent", "background"]


def test_background_work_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr("poise.linalg.turns.BACKGROUND_WAIT_MAX_SECONDS", 0.01)
    turns, done = Turns(), threading.Event()

    def background():
        with turns.in_background(), turns:
            done.set()

    with turns.urgent():
        thread = threading.Thread(target=background)
        thread.start()
        assert done.wait(10)
    thread.join()


def test_urgent_work_of_others_does_not_put_off_what_is_not_in_the_background():
    turns, done = Turns(), threading.Event()

    def usual():
        with turns:
            done.set()

    with turns.urgent():
        thread = threading.Thread(target=usual)
        thread.start()
        assert done.wait(10)
    thread.join()
