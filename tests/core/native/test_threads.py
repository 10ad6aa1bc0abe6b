"""Work that is shared among threads."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from fastrank.core.native.threads import in_threads


@pytest.mark.parametrize("interrupts", [1, 2])
def test_an_interrupt_leaves_no_part_running(interrupts):
    """Parts write into memory of the caller, who may use it again afterwards."""
    # A shell starts background processes with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    begun, go_on, ended = threading.Event(), threading.Event(), []
    main = threading.main_thread()

    def work(number: int) -> None:
        if number == 1:
            begun.set()
            go_on.wait(10)
            ended.append(number)

    def interrupt() -> None:
        begun.wait(10)
        for _ in range(interrupts):
            signal.pthread_kill(main.ident or 0, signal.SIGINT)
            time.sleep(0.02)
        go_on.set()

    helper = threading.Thread(target=interrupt)
    helper.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            in_threads(work, 2)
    finally:
        helper.join()
        signal.signal(signal.SIGINT, before)

    assert ended == [1]
