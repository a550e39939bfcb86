"""Signals that wait: in one process, as ``signal.raise_signal`` sends them."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
from flitwork.base.signals import SignalsWait, signals_raise

INT, TERM, USER = signal.SIGINT, signal.SIGTERM, signal.SIGUSR1


@pytest.fixture
def handled() -> Iterator[Callable[[int], list[int]]]:
    """Installs a handler that makes a note of a signal; what it has noted."""
    before: dict[int, Any] = {}

    def install(number: int) -> list[int]:
        noted: list[int] = []
        before[number] = signal.signal(number, lambda came, _: noted.append(came))
        return noted

    yield install
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_signal_waits_until_it_is_allowed() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), SignalsWait() as signals:
        signal.raise_signal(INT)
        done.append("taken")
        with signals.allowed():
            done.append("never")
    assert done == ["taken"] and signal.getsignal(INT) is signal.default_int_handler


def test_one_that_has_waited_to_the_end_is_raised_there() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), SignalsWait():
        signal.raise_signal(INT)
        signal.raise_signal(INT)
        done.append("all")
    assert done == ["all"]


def test_more_of_the_one_that_raised_say_nothing_new() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt) as raised, SignalsWait() as signals:
        try:
            with signals.allowed():
                signal.raise_signal(INT)
        finally:
            signal.raise_signal(INT)
            done.append("closed")
    assert done == ["closed"] and raised.value.__context__ is None


def test_another_one_is_handled_at_the_end(handled: Callable[[int], list[int]]) -> None:
    noted = handled(USER)
    with pytest.raises(SystemExit, match=str(128 + TERM)), signals_raise(), SignalsWait() as signals:
        try:
            with signals.allowed():
                signal.raise_signal(INT)
        finally:
            signal.raise_signal(TERM)
            signal.raise_signal(USER)
            assert noted == []
    assert noted == [USER]


def test_whoever_catches_an_interrupt_can_be_interrupted_again() -> None:
    with pytest.raises(KeyboardInterrupt), SignalsWait() as signals:
        with pytest.raises(KeyboardInterrupt), signals.allowed():
            signal.raise_signal(INT)
        with signals.allowed():
            signal.raise_signal(INT)
        raise AssertionError("not reached")


def test_a_handler_that_does_not_raise_goes_on(handled: Callable[[int], list[int]]) -> None:
    noted = handled(INT)
    with SignalsWait() as signals:
        for _ in range(2):
            with signals.allowed():
                signal.raise_signal(INT)
                signal.raise_signal(INT)
        signal.raise_signal(INT)
        assert len(noted) == 4
    assert len(noted) == 5


def test_a_handler_may_put_another_one_in_its_place(handled: Callable[[int], list[int]]) -> None:
    handled(USER)
    second: list[int] = []

    def first(number: int, _: FrameType | None) -> None:
        signal.signal(number, lambda came, _: second.append(came))

    signal.signal(USER, first)
    with SignalsWait() as signals, signals.allowed():
        signal.raise_signal(USER)
        signal.raise_signal(USER)
    signal.raise_signal(USER)
    assert second == [USER, USER]


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(USER, signal.SIG_IGN)
    try:
        with SignalsWait():
            signal.raise_signal(USER)
            assert signal.getsignal(USER) == signal.SIG_IGN
    finally:
        signal.signal(USER, before)
