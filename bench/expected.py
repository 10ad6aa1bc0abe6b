"""What the right values are for a generated case, and whether an answer has them.

They are computed by pytrec_eval, which is the C code of trec_eval 9, from the drawn columns and
not from the files: what reads the files wrongly cannot agree by accident. All of these measures
have the same values in trec_eval 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from bench.errors import NotFoundError

if TYPE_CHECKING:
    from bench.cases import Case
    from bench.draw import Columns
    from bench.trec_files import Qrels, Run

FOUR = ("map", "ndcg_cut_10", "recip_rank", "P_10")
OFFICIAL = (
    "num_q",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "map",
    "Rprec",
    "bpref",
    "recip_rank",
    "P_5",
    "P_10",
    "P_20",
    "P_100",
    "P_1000",
)
ALL_TREC = (
    *OFFICIAL,
    "ndcg",
    "ndcg_cut_10",
    "ndcg_cut_100",
    "recall_100",
    "recall_1000",
    "success_10",
    "map_cut_100",
)
# Means of the same values, summed in another order.
TOLERANCE = 1e-9
# Documents that are held as Python objects at a time.
PORTION = 500_000


def names_of(measures: str) -> tuple[str, ...]:
    """The values that trec_eval's -m `official`, `all_trec` or `map` prints; or four measures."""
    return {"four": FOUR, "official": OFFICIAL, "all_trec": ALL_TREC, "map": ("map",)}[measures]


def compute(case: Case, columns: Columns) -> dict[str, float]:
    """The values over all queries of generated columns, by trec_eval's names."""
    from bench.lines import doc_texts

    queries, retrieved = columns.docs.shape
    names = list(map(str, columns.queries.tolist()))
    judged_docs = doc_texts(case, columns.judged[:, 1])
    rows = zip(
        columns.judged[:, 0].tolist(), judged_docs, columns.judged[:, 2].tolist(), strict=True
    )
    judged = {
        place: {doc: grade for _, doc, grade in group}
        for place, group in groupby(rows, itemgetter(0))
    }
    found: dict[str, tuple[float, ...]] = {}
    portion = max(1, PORTION // retrieved)
    for start in range(0, queries, portion):
        stop = min(start + portion, queries)
        docs = doc_texts(case, columns.docs[start:stop].ravel())
        scores = columns.scores[start:stop].ravel().tolist()
        run = {}
        for query, low in zip(names[start:stop], range(0, len(docs), retrieved), strict=True):
            own = slice(low, low + retrieved)
            run[query] = dict(zip(docs[own], scores[own], strict=True))
        found.update(per_query({names[place]: judged[place] for place in range(start, stop)}, run))
    return over_all(found)


def per_query(qrels: Qrels, run: Run) -> dict[str, tuple[float, ...]]:
    """The values of each query, in the order of ALL_TREC."""
    try:
        import pytrec_eval
    except ImportError:
        raise NotFoundError(
            "the expected answers need pytrec_eval: pip install -e '.[test]'"
        ) from None
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(map(_requested, ALL_TREC)))
    return {
        query: tuple(values[name] for name in ALL_TREC)
        for query, values in evaluator.evaluate(run).items()
    }


def over_all(found: Mapping[str, tuple[float, ...]]) -> dict[str, float]:
    """The values over all queries, by trec_eval's names."""
    in_order = [found[query] for query in sorted(found)]
    sums = {
        name: sum(column)
        for name, column in zip(ALL_TREC, zip(*in_order, strict=True), strict=True)
    }
    return {
        name: total if name.startswith("num_") else total / len(in_order)
        for name, total in sums.items()
    }


def _requested(name: str) -> str:
    """The measure that yields a value: `P.10` for `P_10`."""
    family, _, cutoff = name.rpartition("_")
    return f"{family}.{cutoff}" if cutoff.isdigit() else name


def printed_wrong(output: bytes, expected: Mapping[str, float], names: tuple[str, ...]) -> str:
    """What is wrong in what a trec_eval printed; empty if nothing is."""
    rows = [line.split("\t") for line in output.decode("utf-8", "replace").splitlines()]
    found = {row[0].rstrip(): row[2] for row in rows if len(row) == 3 and row[1] == "all"}
    for name in names:
        wanted = _printed(name, expected[name])
        if found.get(name) != wanted:
            return f"{name} is {found.get(name, 'missing')}, expected {wanted}"
    return ""


def _printed(name: str, value: float) -> str:
    return f"{value:.0f}" if name.startswith("num_") else f"{value:6.4f}"


def values_wrong(
    found: Mapping[str, float], expected: Mapping[str, float], names: tuple[str, ...]
) -> str:
    """What is wrong among values that a library computed; `names` are those it must have."""
    for name in names:
        if name not in found:
            return f"{name} is missing"
    for name in expected.keys() & found.keys():
        value, wanted = found[name], expected[name]
        if not abs(value - wanted) <= TOLERANCE * max(1.0, abs(wanted)):
            return f"{name} is {value!r}, expected {wanted!r}"
    return ""
