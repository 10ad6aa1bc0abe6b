"""What is asked of an evaluation of arrays: measures and options, checked as `evaluate` does."""

from __future__ import annotations

from fastrank.arguments import DEFAULT_COMPAT, check_choice, check_compat, flag, integer
from fastrank.formats.exclusions import as_exclusions
from fastrank.judging.options import (
    DUPLICATES,
    NO_RELEVANT,
    TIES,
    Options,
    check_options,
    relevance,
    settle_depth,
    settle_missing,
)
from fastrank.measures.selection import Selection
from fastrank.measures.ties import refuse_annotated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


class Asked:
    """Measures with parameters, and options; the names are `evaluate`'s."""

    def __init__(
        self,
        measures: str | Iterable[str],
        *,
        relevance_level: float = 1,
        missing: str | None = None,
        depth: int | None = None,
        complete: bool = False,
        judged_only: bool = False,
        max_retrieved: int | None = None,
        collection_size: int = 0,
        compat: str = DEFAULT_COMPAT,
        ties: str = "docno_desc",
        no_relevant: str = "zero",
        ignore_identical_ids: bool = False,
        exclude: Mapping[Any, Iterable[Any]] | None = None,
        duplicates: str = "error",
    ) -> None:
        check_choice("ties", ties, TIES)
        check_choice("no_relevant", no_relevant, NO_RELEVANT)
        check_choice("duplicates", duplicates, DUPLICATES)
        self.bound = Selection(measures).bind(check_compat(compat))
        missing = settle_missing(missing, complete=complete)
        self.options = Options(
            compat=compat,
            relevance_format="qrels",
            relevance_level=relevance(relevance_level),
            complete=missing == "zero",
            judged_only=flag("judged_only", judged_only),
            max_retrieved=settle_depth(depth, max_retrieved),
            collection_size=integer("collection_size", collection_size),
            query=None,
            ties=ties,
            missing_is_error=missing == "error",
            no_relevant=no_relevant,
            ignore_identical_ids=flag("ignore_identical_ids", ignore_identical_ids),
            exclude=as_exclusions(exclude),
            duplicates=duplicates,
        )
        check_options(self.bound, self.options)
        refuse_annotated(self.bound, "only `evaluate` has the ids to look for in them")
