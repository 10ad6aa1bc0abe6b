"""Blocks of a remote file, fetched ahead by threads."""

from __future__ import annotations

import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Large enough that its transfer takes longer than the latency of a store.
BLOCK = 4 << 20
# Blocks to fetch beyond the one that a thread reads.
AHEAD = 4


class Blocks:
    """The blocks of a file; the recent ones are kept, about `AHEAD + 1` per thread that reads.

    fetch: fills a buffer with the bytes from a position on. May be used from several threads.
    """

    def __init__(self, fetch: Callable[[int, memoryview], None], size: int, first: bytes) -> None:
        self._fetch, self._size = fetch, size
        self._lock = threading.Lock()
        self._readers: set[int] = set()
        # In the order of their last use.
        self._blocks = {0: _Block(bytearray(first), len(first))}
        self._blocks[0].ended.set()
        # Memory of former blocks: new memory would take as long as a fast network.
        self._spare: list[bytearray] = []

    def copy(self, position: int, stop: int, view: memoryview) -> int:
        """Copy bytes from a position on, up to the end of its block, and return their number.

        Waits for them, and lets threads fetch the next blocks up to `stop`. Raises what `fetch`
        raises.
        """
        number = position // BLOCK
        with self._lock:
            self._readers.add(threading.get_ident())
            last = min(number + AHEAD, (stop - 1) // BLOCK)
            block, *_ = [self._started(own) for own in range(number, last + 1)]
            block.users += 1
        try:
            block.ended.wait()
            if block.error is None:
                first = position - number * BLOCK
                found = block.content[first : first + min(len(view), stop - position)]
                view[: len(found)] = found
                return len(found)
        finally:
            with self._lock:
                block.users -= 1
                if block.error is not None and self._blocks.get(number) is block:
                    # A later attempt may succeed.
                    del self._blocks[number]
        raise block.error

    def close(self) -> None:
        """Forget all blocks."""
        with self._lock:
            self._blocks.clear()
            self._spare.clear()

    def _started(self, number: int) -> _Block:
        block = self._blocks.pop(number, None)
        if block is None:
            self._remove_old()
            start = number * BLOCK
            memory = self._spare.pop() if self._spare else bytearray(BLOCK)
            block = _Block(memory, min(BLOCK, self._size - start))
            # A daemon, so that a slow server does not keep an interrupted program running.
            work = (self._fetch, start)
            threading.Thread(target=block.fill, args=work, daemon=True).start()
        self._blocks[number] = block
        return block

    def _remove_old(self) -> None:
        excess = max(0, len(self._blocks) - (AHEAD + 1) * len(self._readers))
        unused = [own for own, block in self._blocks.items() if block.is_unused]
        for oldest in unused[:excess]:
            memory = self._blocks.pop(oldest).memory
            if len(memory) == BLOCK:
                self._spare.append(memory)


class _Block:
    """The bytes of a block, or the error that occurred when they were fetched.

    users: the number of threads that wait for it or copy it.
    """

    def __init__(self, memory: bytearray, size: int) -> None:
        self.memory, self.content = memory, memoryview(memory)[:size]
        self.users = 0
        self.ended = threading.Event()
        self.error: BaseException | None = None

    @property
    def is_unused(self) -> bool:
        return not self.users and self.ended.is_set()

    def fill(self, fetch: Callable[[int, memoryview], None], start: int) -> None:
        """Fetch the bytes."""
        try:
            fetch(start, self.content)
        except BaseException as error:
            self.error = error
        finally:
            self.ended.set()
