"""Checks of arguments; the versions of trec_eval (published results use 9.0.8)."""

from __future__ import annotations

from fastrank.common.messages import brief
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrank.common.choices import TrecEvalVersion


# Values of `rank_by`.
RANK_BY = ("score", "rank", "given")

TREC_EVAL_VERSIONS = ("9.0.8", "10.0")
DEFAULT_VERSION: TrecEvalVersion = "9.0.8"


def check_version(trec_eval_version: str) -> TrecEvalVersion:
    """Return the version if it exists, else raise OptionError."""
    if trec_eval_version not in TREC_EVAL_VERSIONS:
        expected = " or ".join(map(repr, TREC_EVAL_VERSIONS))
        raise OptionError("trec_eval_version", f"expected {expected}, found {trec_eval_version!r}")
    return trec_eval_version  # type: ignore[return-value]


def integer(name: str, value: int) -> int:
    """The value as a 64-bit integer. Raises OptionError, or TypeError for other types."""
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected an integer, found {type(value).__name__}")
    if not -(2**63) <= value < 2**63:
        raise OptionError(name, f"expected a 64-bit integer, found {brief(value.__index__())}")
    return value.__index__()


def check_threads(threads: int | None) -> None:
    """Raise OptionError for less than one thread, TypeError for other types."""
    if threads is not None:
        at_least("threads", threads, 1)


def finite(name: str, value: object) -> float:
    """The value as a finite float. Raises OptionError, or TypeError for other types."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name}: expected a number, found {type(value).__name__}")
    try:
        number = float(value)
    except (OverflowError, ValueError):
        # A long integer, and decimal's NaN that signals.
        reason = f"expected a finite number in the range of a double, found {brief(value)}"
        raise OptionError(name, reason) from None
    if number - number != 0.0:
        raise OptionError(name, f"expected a finite number, found {value}")
    return number


def not_negative(name: str, value: object) -> float:
    """The value as a finite float of at least 0. Raises OptionError, or TypeError."""
    number = finite(name, value)
    if number < 0.0:
        raise OptionError(name, f"expected 0 or more, found {value}")
    return number


def fraction(name: str, value: object) -> float:
    """The value as a float between 0 and 1, without these. Raises OptionError, or TypeError."""
    number = finite(name, value)
    if not 0.0 < number < 1.0:
        raise OptionError(name, f"expected a number between 0 and 1, found {value}")
    return number


def flag(name: str, value: object) -> bool:
    """The value as a bool: True, False (Python or numpy), 1 or 0. Raises OptionError."""
    # A string such as "no" would count as true.
    if isinstance(value, (str, bytes)) or not hasattr(value, "__bool__") or value not in (0, 1):
        raise OptionError(name, f"expected True or False, found {value!r}")
    return bool(value)


def at_least(name: str, value: int, least: int) -> int:
    """The value as an integer of at least `least`. Raises OptionError, or TypeError."""
    number = integer(name, value)
    if number < least:
        raise OptionError(name, f"expected {least} or more, found {number}")
    return number


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise OptionError unless the value is one of the choices."""
    if value not in choices:
        from fastrank.common.dropped import instead
        from fastrank.common.messages import meant_choice

        expected = ", ".join(map(repr, choices))
        hint = instead(name, value) if name == "test" and "tukey" in choices else ""
        hint = hint or meant_choice(value, choices)
        raise OptionError(name, f"expected one of {expected}, found {value!r}{hint}")
