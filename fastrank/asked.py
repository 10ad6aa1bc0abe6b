"""What is asked of an evaluation of arrays: measures and options, checked as `evaluate` does."""

from __future__ import annotations

from fastrank.evaluation import MAX_RETRIEVED
from fastrank.levels import DEFAULT_COMPAT, check_compat
from fastrank.plan import Options, judging_options
from fastrank.selection import Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Asked:
    """Measures with parameters, options, and how to judge for them; the names are `evaluate`'s."""

    def __init__(
        self,
        measures: str | Iterable[str],
        *,
        relevance_level: int = 1,
        complete: bool = False,
        judged_only: bool = False,
        max_retrieved: int | None = None,
        collection_size: int = 0,
        compat: str = DEFAULT_COMPAT,
    ) -> None:
        deepest = MAX_RETRIEVED if max_retrieved is None else _int64("max_retrieved", max_retrieved)
        if deepest < 0:
            raise ValueError(f"max_retrieved {max_retrieved}: expected 0 or more")
        names = measures.split() if isinstance(measures, str) else measures
        self.bound = Selection(names).bind(check_compat(compat))
        self.options = Options(
            compat=compat,
            relevance_format="qrels",
            relevance_level=_int64("relevance_level", relevance_level),
            complete=complete,
            judged_only=judged_only,
            max_retrieved=deepest,
            collection_size=_int64("collection_size", collection_size),
            query=None,
        )
        self.judging = judging_options(self.bound, self.options)
        # Only trec_eval 10.0 under -c evaluates queries without results.
        self.evaluates_missing = complete and compat != DEFAULT_COMPAT

    @property
    def first_measure(self) -> str:
        """The measure to name when a query cannot be judged."""
        return self.bound[0].measure.name if self.bound else ""


def _int64(name: str, value: int) -> int:
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected an integer, found {type(value).__name__}")
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{name} {value}: expected a 64-bit integer")
    return value.__index__()
