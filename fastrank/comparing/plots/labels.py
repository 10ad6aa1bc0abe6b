"""Names in plots and reports."""

from __future__ import annotations

from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 26
# Letters that are kept of what names have in common.
SHARED = 6


def short(name: str, longest: int = LONGEST) -> str:
    """The visible name, without its middle if it is too long."""
    name = visible(name)
    if len(name) <= longest:
        return name
    head = (longest - 1) // 2
    return f"{name[:head]}…{name[head + 1 - longest :]}"


def short_names(names: Sequence[str], longest: int = LONGEST) -> list[str]:
    """The visible names, shortened so that they still differ.

    Names that would become equal are cut around the place where they differ.
    """
    full = [visible(name) for name in names]
    made = [short(name, longest) for name in full]
    for label in {label for label in made if made.count(label) > 1}:
        places = [place for place, own in enumerate(made) if own == label]
        same = _shared([full[place] for place in places])
        for place in places:
            made[place] = _window(full[place], max(0, same - SHARED), longest)
    most = max(map(len, full), default=0)
    if longest >= most or len(set(made)) == len(set(full)):
        return made
    return short_names(names, longest + 8)


def _shared(names: Sequence[str]) -> int:
    """How many letters at the start are the same in all names."""
    letters = zip(*names, strict=False)
    return next((place for place, own in enumerate(letters) if len(set(own)) > 1), 0)


def _window(name: str, start: int, longest: int) -> str:
    """The part of a name from about `start` on."""
    start = min(start, max(0, len(name) - longest + 1))
    stop = start + longest - (start > 0)
    end = f"{name[start : stop - 1]}…" if stop < len(name) else name[start:]
    return f"…{end}" if start else end
