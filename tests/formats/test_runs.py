"""What documents are ranked by: scores, the rank column, or as they stand; run files' metadata."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.cli.main import main
from fastrank.errors import FormatError, InputError, OptionError
from fastrank.formats.runs import LAST_RANK
from tests.helpers.parsing import read_trec_run
from tests.helpers.strategies import examples

MEASURES = "map P.1,2,5 recip_rank ndcg ndcg_cut.3 bpref success.1,5 recall.2"
QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"d": 1}}
# Lines neither in the order of scores nor in that of ranks, and ranks with gaps.
LINES = b"q1 Q0 b 9 0.5 t\nq2 Q0 e 1 0.1 t\nq1 Q0 a 2 0.1 t\nq2 Q0 d 0 0.0 t\nq1 Q0 c 4 0.9 t\n"
BY_RANK = {"q1": ["a", "c", "b"], "q2": ["d", "e"]}
AS_GIVEN = {"q1": ["b", "a", "c"], "q2": ["e", "d"]}
COLUMNS = {
    "qid": ["q1", "q2", "q1", "q2", "q1"],
    "docno": ["b", "e", "a", "d", "c"],
    "rank": [9, 1, 2, 0, 4],
    "score": [0.5, 0.1, 0.1, 0.0, 0.9],
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
    scores = fr.evaluate(qrels or QRELS, run, MEASURES, rank_by=rank_by, **options)
    assert isinstance(scores, fr.Scores)
    return scores.to_dict()


@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
@pytest.mark.parametrize(("rank_by", "rankings"), [("rank", BY_RANK), ("given", AS_GIVEN)])
def test_a_trec_file(rank_by: str, rankings: dict[str, list[str]], trec_eval_version: str) -> None:
    assert found(io.BytesIO(LINES), rank_by, trec_eval_version=trec_eval_version) == expected(
        rankings
    )
    assert found(io.BytesIO(gzip.compress(LINES)), rank_by) == expected(rankings)


@given(
    results=st.permutations("abcdef").flatmap(
        lambda docs: st.lists(
            st.tuples(st.integers(-5, LAST_RANK), st.sampled_from([0.5, 1.0, float("nan")])),
            max_size=6, min_size=1, unique_by=lambda result: result[0],
        ).map(lambda rows: [(doc, *row) for doc, row in zip(docs, rows, strict=False)])
    ),
    grades=st.dictionaries(st.sampled_from("abcdefx"), st.integers(0, 3), min_size=1),
    ties=st.sampled_from(["docno_desc", "docno_asc", "given", "best", "worst"]),
)  # fmt: skip
@examples(200)
def test_every_measure_follows_and_nothing_ties(
    results: Results, grades: dict[str, int], ties: str
) -> None:
    lines = "".join(f"q \tQ0 {doc}  {rank:+} {score} t\n" for doc, rank, score in results)
    qrels = {"q": {**grades, "y": 1}}
    by_rank = [doc for doc, *_ in sorted(results, key=lambda result: result[1])]
    given_order = [doc for doc, *_ in results]

    for rank_by, ranking in (("rank", by_rank), ("given", given_order)):
        run = io.BytesIO(lines.encode())
        assert found(run, rank_by, qrels, ties=ties) == expected({"q": ranking}, qrels)


@given(
    rankings=st.dictionaries(
        st.sampled_from(["1", "2", "3"]),
        st.lists(st.sampled_from("abcdefghijklmn"), unique=True, min_size=1),
        min_size=1,
    ),
    reference=st.dictionaries(
        st.sampled_from(["1", "2", "3", "4"]), st.sets(st.sampled_from("abcd"), min_size=1),
        min_size=1,
    ),
)  # fmt: skip
@examples(100)
def test_the_mrr_of_ms_marcos_script(
    rankings: dict[str, list[str]], reference: dict[str, set[str]]
) -> None:
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


def test_scores_are_what_counts_by_default() -> None:
    by_score = {"q1": ["c", "b", "a"], "q2": ["e", "d"]}
    assert found(io.BytesIO(LINES), "score") == expected(by_score)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame(library: str) -> None:
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    assert found(make(COLUMNS), "rank") == expected(BY_RANK)
    assert found(make(COLUMNS), "given") == expected(AS_GIVEN)
    without = {name: COLUMNS[name] for name in ("qid", "docno")}
    assert found(make(without), "given") == expected(AS_GIVEN)
    with pytest.raises(InputError, match="no rank column: found 'qid', 'docno'"):
        found(make(without), "rank")


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_a_file_with_names(form: str, tmp_path: Path) -> None:
    rows = list(zip(*COLUMNS.values(), strict=True))
    blank = {"csv": ",", "tsv": "\t"}.get(form, "")
    lines = [blank.join(map(str, row)) for row in [list(COLUMNS), *rows]]
    if form == "jsonl":
        lines = [json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows]
    path = tmp_path / f"run.{form}"
    path.write_text("\n".join(lines) + "\n")

    assert found(path, "rank") == expected(BY_RANK)
    assert found(path, "given") == expected(AS_GIVEN)


def test_three_columns_of_ms_marco() -> None:
    """Their ranks are told from their values by default; asked for, they may have gaps."""
    whole = b"q1\ta\t1\nq1\tc\t2\nq1\tb\t3\nq2\td\t1\nq2\te\t2\n"
    assert found(io.BytesIO(whole), "score") == expected(BY_RANK)
    assert found(io.BytesIO(whole), "rank") == expected(BY_RANK)

    gaps = b"q1\tb\t9\nq2\te\t1\nq1\ta\t2\nq2\td\t0\nq1\tc\t4\n"
    assert found(io.BytesIO(gaps), "rank") == expected(BY_RANK)
    assert found(io.BytesIO(gaps), "given") == expected(AS_GIVEN)
    with pytest.raises(FormatError, match=":1: the third column"):
        found(io.BytesIO(gaps), "score")


def test_items_of_a_dict_and_rows_of_a_run_as_given() -> None:
    run = {query: dict.fromkeys(docs, 0.5) for query, docs in AS_GIVEN.items()}
    assert found(run, "given") == expected(AS_GIVEN)
    assert found(fr.Run.from_dict(run), "given") == expected(AS_GIVEN)
    assert run["q1"] == {"b": 0.5, "a": 0.5, "c": 0.5}


@pytest.mark.parametrize("make", [dict, fr.Run.from_dict, lambda run: io.BytesIO(
    json.dumps(run).encode())])  # fmt: skip
def test_what_holds_no_ranks(make: Any) -> None:
    with pytest.raises(InputError, match="rank_by='rank': expected ranks, found only scores"):
        found(make({"q1": {"a": 0.5}}), "rank")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"q Q0 a 1 1 t\n\nq Q0 b one 1 t\n", "f:3: expected an integer rank .*, found 'o"),
        (b"q Q0 a 1.0 1 t\n", "f:1: expected an integer rank .*, found '1.0'"),
        (
            b"q Q0 a 16777217 1 t\n",
            "f:1: expected an integer rank of at most 16777216, found '16777217'",
        ),
        (b"q Q0 a 99999999999999999999 1 t\n", r"f:1: expected an integer .*'9999"),
        (b"q Q0 a 1 0.5\n", r"f:1: malformed line: expected at least 6 fields"),
        (
            b"p Q0 a 1 1 t\nq Q0 a 7 1 t\nq Q0 b 8 1 t\nq Q0 c 7 0 t\n",
            r"f: query 'q': documents 'a' and 'c' both have rank 7, lines 2 and 4",
        ),
        (
            b"q Q0 a 0 1 t\nq Q0 b 0 1 t\n",
            r"f: query 'q': documents 'a' and 'b' both have rank 0, lines 1 and 2",
        ),
    ],
)
def test_what_is_no_rank(
    lines: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f").write_bytes(lines)
    with pytest.raises((FormatError, InputError), match="^" + message):
        read_trec_run("f", rank_by="rank")


def test_ranks_of_frames_beyond_what_32_bit_floats_tell_apart() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": ["q"], "docno": ["d"], "rank": [LAST_RANK + 1]})
    with pytest.raises(
        InputError, match=r"row 0 .* expected a rank of at most 16777216, found 16777217"
    ):
        fr.Run.from_pandas(frame)


def test_of_repeated_documents_the_better_rank_counts_for_max() -> None:
    lines = b"q1 Q0 a 3 0.1 t\nq1 Q0 b 2 0.2 t\nq1 Q0 a 1 0.0 t\n"
    assert found(io.BytesIO(lines), "rank", duplicates="max")["q1"]["recip_rank"] == 1.0
    assert found(io.BytesIO(lines), "rank", duplicates="first")["q1"]["recip_rank"] == 0.5


def test_on_the_command_line(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 c 1\nq2 0 d 1\n")
    (tmp_path / "run").write_bytes(LINES)
    values = []
    for rank_by in ("score", "rank", "given"):
        files = [str(tmp_path / name) for name in ("qrels", "run")]
        assert main(["eval", "--rank-by", rank_by, "-m", "recip_rank", *files]) == 0
        values.append(float(capfdbinary.readouterr().out.split()[-1]))
    assert values == [(1 + 1 / 2) / 2, 1.0, (1 / 2 + 1 / 2) / 2]


def test_other_orders_are_refused() -> None:
    for refuse in (read_trec_run, fr.read_run):
        with pytest.raises(OptionError, match="'score', 'rank', 'given', found 'random'"):
            refuse(io.BytesIO(LINES), rank_by="random")
    with pytest.raises(OptionError, match="'score', 'rank', 'given', found 'random'"):
        found({"q1": {"a": 1}}, "random")


@pytest.mark.parametrize(
    "content", [b"q,b,2,0.5\nq,a,1,0.25\n", b"Q,D,R,S\nq,b,2,0.5\nq,a,1,0.25\n"]
)
@pytest.mark.parametrize(
    ("rank_by", "scores"), [("score", [0.5, 0.25]), ("rank", [-2, -1]), ("given", [-1, -2])]
)
def test_columns_may_be_named_that_the_order_does_not_look_at(
    content: bytes, rank_by: str, scores: list[float]
) -> None:
    """The same names for every order, of files with and without a header."""
    roles = ("query", "doc", "rank", "score")
    columns = dict(zip(roles, "QDRS" if content.startswith(b"Q") else range(4), strict=True))

    run = fr.read_run(io.BytesIO(content), format="csv", columns=columns, rank_by=rank_by)

    assert run.to_dict() == {"q": dict(zip("ba", scores, strict=True))}


# The ir_metadata header of run files

LINE = "q Q0 d 1 1 t\n"


def _found(text: str) -> str | None:
    return fr.run_metadata(io.BytesIO(text.encode()))


def test_the_lines_between_the_markers_lose_their_number_signs() -> None:
    header = "# a comment\n# ir_metadata.start\n# a:\n#   b: 1\n#\n#c: 2\n# ir_metadata.end\n"

    assert _found(header + LINE) == "a:\n  b: 1\n\nc: 2\n"


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        "# another comment\n" + LINE,
        "# ir_metadata.start\n# never: ended\n" + LINE,
        LINE + "# ir_metadata.start\n# too: late\n# ir_metadata.end\n",
        "# ir_metadata.start\n" + LINE + "# ir_metadata.end\n",
    ],
)
def test_a_file_that_does_not_begin_with_a_whole_header_has_none(text: str) -> None:
    assert _found(text) is None


def test_a_header_may_be_longer_than_what_is_read_at_once() -> None:
    lines = "".join(f"# key{place}: value\n" for place in range(20_000))

    found = _found(f"# ir_metadata.start\n{lines}# ir_metadata.end\n{LINE}")
    assert found == lines.replace("# ", "")


def test_compressed_files_and_line_ends_of_windows_are_read() -> None:
    text = "# ir_metadata.start\r\n# a: 1\r\n# ir_metadata.end\r\n" + LINE

    assert fr.run_metadata(io.BytesIO(gzip.compress(text.encode()))) == "a: 1\n"
