"""What the right answer is: by the original program, or by pytrec_eval.

A check takes what a command printed, and whether it was called with -q; it returns what is wrong
with that, or an empty text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from bench.errors import NotFoundError
from bench.inputs import Case

Check = Callable[[bytes, bool], str]


def same_bytes(summary: bytes, per_query: bytes) -> Check:
    """The output must be that of another program, byte for byte."""

    def check(output: bytes, queries: bool) -> str:
        return difference(output, per_query if queries else summary)

    return check


def same_map(case: Case) -> Check:
    """The values of `map`, over all queries and per query, must be those of pytrec_eval."""
    try:
        import pytrec_eval
    except ImportError:
        raise NotFoundError(
            "no trec_eval to compare with (--peer), nor pytrec_eval: pip install -e '.[test]'"
        ) from None
    values = reference(
        pytrec_eval.parse_qrel(_lines(case.qrels)), pytrec_eval.parse_run(_lines(case.run)), "map"
    )
    ascending = [values[query] for query in sorted(values, key=str.encode)]
    everything = {"all": sum(ascending) / len(ascending)}

    def check(output: bytes, queries: bool) -> str:
        expected = {**values, **everything} if queries else everything
        rows = [line.split("\t") for line in output.decode("utf-8", "replace").splitlines()]
        found = {row[1]: row[2] for row in rows if len(row) == 3 and row[0].rstrip() == "map"}
        wanted = {query: f"{value:6.4f}" for query, value in expected.items()}
        return "" if found == wanted else f"map is {found}, expected {wanted}"

    return check


def reference(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]], measure: str
) -> dict[str, float]:
    """The value of a measure for every query, by pytrec_eval: the original's C code."""
    import pytrec_eval

    evaluated = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    return {query: float(values[measure]) for query, values in evaluated.items()}


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def difference(found: bytes, expected: bytes) -> str:
    """The first line in which two outputs differ."""
    if found == expected:
        return ""
    ours, theirs = found.split(b"\n"), expected.split(b"\n")
    for number, (one, other) in enumerate(zip(ours, theirs, strict=False), 1):
        if one != other:
            return f"line {number} is {one!r}, expected {other!r}"
    return f"{len(ours) - 1} lines, expected {len(theirs) - 1}"
