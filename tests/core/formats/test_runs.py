"""What documents are ranked by: scores, the rank column, or as they stand; run files' metadata."""

from __future__ import annotations

import gzip
import io
import json
import re
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.cli.main import main
from fastrank.core.formats.tables.values import LAST_RANK
from fastrank.core.formats.trec.runs import run_metadata
from fastrank.errors import FastrankError, FormatError, InputError, OptionError
from tests.helpers.checks import unescaped
from tests.helpers.parsing import read_trec_run
from tests.helpers.strategies import examples
from tests.helpers.tables import cases

MEASURES = "map P.1,2,5 recip_rank ndcg ndcg_cut.3 bpref success.1,5 recall.2"
QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"d": 1}}
# Lines neither in the order of scores nor in that of ranks, and ranks with gaps.
LINES = b"q1 Q0 b 9 0.5 t\nq2 Q0 e 1 0.1 t\nq1 Q0 a 2 0.1 t\nq2 Q0 d 0 0.0 t\nq1 Q0 c 4 0.9 t\n"
MARCO = b"q1\tb\t9\nq2\te\t1\nq1\ta\t2\nq2\td\t0\nq1\tc\t4\n"
COLUMNS = {
    "qid": ["q1", "q2", "q1", "q2", "q1"],
    "docno": ["b", "e", "a", "d", "c"],
    "rank": [9, 1, 2, 0, 4],
    "score": [0.5, 0.1, 0.1, 0.0, 0.9],
}
BY = {
    "score": {"q1": ["c", "b", "a"], "q2": ["e", "d"]},
    "rank": {"q1": ["a", "c", "b"], "q2": ["d", "e"]},
    "given": {"q1": ["b", "a", "c"], "q2": ["e", "d"]},
}
Results = list[tuple[str, int, float]]


def expected(rankings: dict[str, list[str]], qrels: Any = None) -> dict[str, dict[str, float]]:
    """What pytrec_eval gives for rankings, which it gets as scores without ties."""
    run = {
        query: {doc: float(-rank) for rank, doc in enumerate(ranking)}
        for query, ranking in rankings.items()
    }
    evaluator = pytrec_eval.RelevanceEvaluator(qrels or QRELS, set(MEASURES.split()))
    found: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return found


def found(run: Any, rank_by: str, qrels: Any = None, **options: Any) -> dict[str, dict[str, float]]:
    run = io.BytesIO(run) if isinstance(run, bytes) else run
    scores = fr.evaluate(qrels or QRELS, run, MEASURES, rank_by=rank_by, **options)
    assert isinstance(scores, fr.Scores)
    return scores.to_dict()


@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
@pytest.mark.parametrize("rank_by", BY)
def test_a_trec_file(rank_by, version):
    for content in (LINES, gzip.compress(LINES)):
        assert found(content, rank_by, trec_eval_version=version) == expected(BY[rank_by])


@given(
    results=st.permutations("abcdef").flatmap(
        lambda docs: st.lists(
            st.tuples(st.integers(-5, LAST_RANK), st.sampled_from([0.5, 1.0, float("nan")])),
            max_size=6,
            min_size=1,
            unique_by=lambda result: result[0],
        ).map(lambda rows: [(doc, *row) for doc, row in zip(docs, rows, strict=False)])
    ),
    grades=st.dictionaries(st.sampled_from("abcdefx"), st.integers(0, 3), min_size=1),
    ties=st.sampled_from(["docno_desc", "docno_asc", "given", "best", "worst"]),
)
@examples(60)
def test_every_measure_follows_and_nothing_ties(results, grades, ties):
    lines = "".join(f"q \tQ0 {doc}  {rank:+} {score} t\n" for doc, rank, score in results)
    qrels = {"q": {**grades, "y": 1}}
    by_rank = [doc for doc, *_ in sorted(results, key=lambda result: result[1])]
    given_order = [doc for doc, *_ in results]
    for rank_by, ranking in (("rank", by_rank), ("given", given_order)):
        values = found(lines.encode(), rank_by, qrels, ties=ties)
        assert values == expected({"q": ranking}, qrels)


queries = st.sampled_from(["1", "2", "3"])
rankings = st.lists(st.sampled_from("abcdefghijklmn"), unique=True, min_size=1)
relevant = st.sets(st.sampled_from("abcd"), min_size=1)


@given(
    st.dictionaries(queries, rankings, min_size=1),
    st.dictionaries(queries | st.just("4"), relevant, min_size=1),
)
@examples(40)
def test_the_mrr_of_ms_marcos_script(rankings, reference):
    """1 / rank of the first relevant of ten, added up, over the number of reference queries."""
    total = 0.0
    for query in sorted(rankings.keys() & reference.keys()):
        hits = [i for i, doc in enumerate(rankings[query][:10], 1) if doc in reference[query]]
        total += 1 / hits[0] if hits else 0.0
    qrels = {query: dict.fromkeys(docs, 1) for query, docs in reference.items()}
    # Not in the order of the ranks, and with scores that would say otherwise.
    lines = [
        (query, doc, rank)
        for query, ranking in rankings.items()
        for rank, doc in reversed(list(enumerate(ranking, 1)))
    ]
    trec = "".join(f"{query} Q0 {doc} {rank} {rank} t\n" for query, doc, rank in lines)
    marco = "".join(f"{query}\t{doc}\t{rank}\n" for query, doc, rank in lines)
    if not rankings.keys() & reference.keys():
        return
    for content in (trec, marco):
        run = io.BytesIO(content.encode())
        scores = fr.evaluate(qrels, run, "RR@10", rank_by="rank", missing="zero")
        assert scores.mean["RR@10"] == total / len(reference)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    for rank_by in ("rank", "given"):
        assert found(make(COLUMNS), rank_by) == expected(BY[rank_by])
    without = make({name: COLUMNS[name] for name in ("qid", "docno")})
    assert found(without, "given") == expected(BY["given"])
    with pytest.raises(InputError, match="no rank column: found 'qid', 'docno'"):
        found(without, "rank")


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_a_file_with_names(form, tmp_path):
    rows = list(zip(*COLUMNS.values(), strict=True))
    blank = {"csv": ",", "tsv": "\t"}.get(form, "")
    lines = [blank.join(map(str, row)) for row in [list(COLUMNS), *rows]]
    if form == "jsonl":
        lines = [json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows]
    path = tmp_path / f"run.{form}"
    path.write_text("\n".join(lines) + "\n")
    for rank_by in ("rank", "given"):
        assert found(path, rank_by) == expected(BY[rank_by])


def test_three_columns_of_ms_marco():
    """Their ranks are told from their values by default; asked for, they may have gaps."""
    whole = b"q1\ta\t1\nq1\tc\t2\nq1\tb\t3\nq2\td\t1\nq2\te\t2\n"
    for content, rank_by, order in (
        (whole, "score", "rank"),
        (whole, "rank", "rank"),
        (MARCO, "rank", "rank"),
        (MARCO, "given", "given"),
    ):
        assert found(content, rank_by) == expected(BY[order])
    with pytest.raises(FormatError, match=":1: the third column"):
        found(MARCO, "score")


def test_items_of_a_dict_and_rows_of_a_run_as_given():
    run = {query: dict.fromkeys(docs, 0.5) for query, docs in BY["given"].items()}
    assert found(run, "given") == found(fr.Run.from_dict(run), "given") == expected(BY["given"])
    assert run["q1"] == {"b": 0.5, "a": 0.5, "c": 0.5}


@pytest.mark.parametrize("make", [dict, fr.Run.from_dict, lambda run: json.dumps(run).encode()])
def test_what_holds_no_ranks(make):
    with pytest.raises(InputError, match="rank_by='rank': expected ranks, found only scores"):
        found(make({"q1": {"a": 0.5}}), "rank")


# The lines of a run, and its error behind the name of the file.
NO_RANKS = r"""
q Q0 a 1 1 t\n\nq Q0 b one 1 t\n => :3: expected an integer rank ..., found 'one'
q Q0 a 1.0 1 t\n => :1: expected an integer rank ..., found '1.0'
q Q0 a 16777217 1 t\n => :1: expected an integer rank of at most 16777216, found '16777217'
q Q0 a 99999999999999999999 1 t\n => :1: expected an integer ...'9999
q Q0 a 1 0.5\n => :1: malformed line: expected at least 6 fields
p Q0 a 1 1 t\nq Q0 a 7 1 t\nq Q0 b 8 1 t\nq Q0 c 7 0 t\n
  : query 'q': documents 'a' and 'c' both have rank 7, lines 2 and 4
q Q0 a 0 1 t\nq Q0 b 0 1 t\n => : query 'q': documents 'a' and 'b' both have rank 0, lines 1 and 2
"""


@pytest.mark.parametrize(("lines", "message"), cases(NO_RANKS))
def test_what_is_no_rank(lines, message):
    pattern = ".*".join(map(re.escape, f"<file object>{message}".split("...")))
    with pytest.raises(FastrankError, match=f"^{pattern}"):
        read_trec_run(io.BytesIO(unescaped(lines)), rank_by="rank")


def test_ranks_of_frames_beyond_what_32_bit_floats_tell_apart():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": ["q"], "docno": ["d"], "rank": [LAST_RANK + 1]})
    expected = r"row 0 .* expected a rank of at most 16777216, found 16777217"
    with pytest.raises(InputError, match=expected):
        fr.Run.from_pandas(frame)


def test_of_repeated_documents_the_better_rank_counts_for_max():
    lines = b"q1 Q0 a 3 0.1 t\nq1 Q0 b 2 0.2 t\nq1 Q0 a 1 0.0 t\n"
    for duplicates, value in (("max", 1.0), ("first", 0.5)):
        assert found(lines, "rank", duplicates=duplicates)["q1"]["recip_rank"] == value


def test_on_the_command_line(tmp_path, capfdbinary):
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 c 1\nq2 0 d 1\n")
    (tmp_path / "run").write_bytes(LINES)
    files = [str(tmp_path / name) for name in ("qrels", "run")]
    for rank_by, mean in (("score", (1 + 1 / 2) / 2), ("rank", 1.0), ("given", 1 / 2)):
        assert main(["eval", "--rank-by", rank_by, "-m", "recip_rank", *files]) == 0
        assert float(capfdbinary.readouterr().out.split()[-1]) == mean


def test_other_orders_are_refused():
    for read in (read_trec_run, fr.read_run, found):
        with pytest.raises(OptionError, match="'score', 'rank', 'given', found 'random'"):
            read(io.BytesIO(LINES), rank_by="random")


@pytest.mark.parametrize(("header", "names"), [(b"", range(4)), (b"Q,D,R,S\n", "QDRS")])
@pytest.mark.parametrize(
    ("rank_by", "scores"), [("score", [0.5, 0.25]), ("rank", [-2, -1]), ("given", [-1, -2])]
)
def test_columns_may_be_named_that_the_order_does_not_look_at(header, names, rank_by, scores):
    """The same names for every order, of files with and without a header."""
    columns = dict(zip(("query", "doc", "rank", "score"), names, strict=True))
    content = io.BytesIO(header + b"q,b,2,0.5\nq,a,1,0.25\n")
    run = fr.read_run(content, format="csv", columns=columns, rank_by=rank_by)
    assert run.to_dict() == {"q": dict(zip("ba", scores, strict=True))}


# The ir_metadata header of run files

LINE = "q Q0 d 1 1 t\n"
START, END = "# ir_metadata.start\n", "# ir_metadata.end\n"
# Longer than what is read at once.
MANY = "".join(f"# key{place}: value\n" for place in range(20_000))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"# a comment\n{START}# a:\n#   b: 1\n#\n#c: 2\n{END}{LINE}", "a:\n  b: 1\n\nc: 2\n"),
        (f"{START}{MANY}{END}{LINE}", MANY.replace("# ", "")),
        (f"{START}# a: 1\n{END}{LINE}".replace("\n", "\r\n"), "a: 1\n"),
        (LINE, None),
        ("# another comment\n" + LINE, None),
        (f"{START}# never: ended\n{LINE}", None),
        (f"{LINE}{START}# too: late\n{END}", None),
        (START + LINE + END, None),
    ],
    ids=["comments", "long", "CR LF", "none", "a comment", "no end", "late", "a line amid"],
)
def test_the_lines_between_the_markers_at_the_beginning_lose_their_number_signs(text, expected):
    for content in (text.encode(), gzip.compress(text.encode())):
        assert run_metadata(io.BytesIO(content)) == expected
