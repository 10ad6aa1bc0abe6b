"""Progress bars: tqdm's, on standard error."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from tqdm import tqdm

    Bar: TypeAlias = "_NoBar | tqdm"

# Seconds of work before a bar appears.
SHORT = 2.0


class _NoBar:
    """A progress bar that is not shown."""

    def __enter__(self) -> _NoBar:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, done: float) -> None:
        """Nothing."""

    def clear(self) -> None:
        """Nothing."""


def bar(label: str, total: int | None, unit: str, progress: bool | None) -> Bar:
    """A context manager that shows a progress bar; call `update(n)` to advance it.

    progress: True or False; None shows it if standard error is a terminal and the work is long.
    """
    stream = sys.stderr
    shown = stream is not None and stream.isatty() if progress is None else progress
    if not shown:
        # Even a disabled bar would start a thread.
        return _NoBar()
    from tqdm import tqdm

    return tqdm(
        total=total,
        desc=label,
        unit=f" {unit}",
        unit_scale=True,
        file=stream,
        delay=SHORT if progress is None else 0.0,
        leave=progress is not None,
    )
