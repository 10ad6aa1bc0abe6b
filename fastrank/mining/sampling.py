"""Draw negatives at random: from the mined documents of a query, and from the corpus."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.data.texts import decoded
from fastrank.errors import InputError, OptionError
from fastrank.formats.values import texts_of_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from random import Random
    from typing import Any, NoReturn


def sample_rows(rng: Random, selected: Any, first: int, mined: int, number: int) -> int:
    """Keep a sample of the rows selected[first : first + mined]; returns how many remain."""
    if mined <= number:
        return mined
    for place, row in enumerate(rng.sample(list(selected[first : first + mined]), number), first):
        selected[place] = row
    return number


def draw(rng: Random, corpus: list[str], number: int, taken: Collection[str]) -> list[str]:
    """Documents of the corpus other than those that are taken: `number`, or all if it has fewer."""
    drawn = rng.sample(corpus, min(len(corpus), number + len(taken)))
    return [doc for doc in drawn if doc not in taken][:number]


def ids_of_corpus(corpus: Any, random_negatives: int, *, fill: bool) -> list[str]:
    """The distinct ids of a Dataset, a mapping or a list; none without random negatives."""
    if not random_negatives and not fill:
        if corpus is not None:
            raise OptionError("corpus", "not applicable without random_negatives or fill")
        return []
    if corpus is None:
        reason = "expected the ids of the corpus, to draw random negatives from; found none"
        raise OptionError("corpus", reason)
    given = getattr(corpus, "corpus_ids", corpus)
    if isinstance(given, (str, bytes, set, frozenset)) or not hasattr(given, "__iter__"):
        found = type(given).__name__
        raise TypeError(f"corpus: expected a data set, a mapping or a list of ids, found {found}")

    def fail(row: int, reason: str) -> NoReturn:
        raise InputError("corpus", f"id {row}: {reason}")

    ids = list(given) if not isinstance(given, Mapping) else list(given.keys())
    return list(dict.fromkeys(map(decoded, texts_of_list(ids, fail))))
