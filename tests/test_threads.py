"""Threads that share work, and interrupts while BLAS gets its number of threads."""

from __future__ import annotations

import os
import signal

import pytest

from mcls import threads


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_libraries_are_looked_for_is_raised_afterwards(monkeypatch, number):
    class CameLateError(Exception):
        pass

    def handler(*_):
        raise CameLateError

    def looks(n):
        os.kill(os.getpid(), number)
        looked.append(n)

    looked: list[int] = []
    monkeypatch.setattr(threads, "threadpool_limits", looks)
    before = signal.signal(number, handler)
    try:
        with pytest.raises(CameLateError):
            threads.blas_threads(1)
        assert looked == [1]
        assert signal.getsignal(number) is handler
    finally:
        signal.signal(number, before)


def test_without_an_interrupt_nothing_is_raised_and_the_handlers_stay():
    before = signal.getsignal(signal.SIGINT)
    with threads.blas_threads(1):
        assert signal.getsignal(signal.SIGINT) is before
