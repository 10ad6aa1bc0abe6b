"""What commands print and write is what the functions give that they call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.cli.compare import HINT
from fastrank.core.formats.files.source import read_all
from tests.helpers.commands import PCA, PIXELS, PROFILE, QRELS, printed, write
from tests.helpers.paths import DATA
from tests.helpers.tables import cases

ALL = [PIXELS, PCA, PROFILE]
CLUSTERS = {
    query: str(place // 4) for place, query in enumerate(fr.read_qrels(DATA / QRELS).to_dict())
}
DOCS = {f"d{i}": {"title": f"T{i}", "text": f"text {i}"} for i in range(1, 5)}
ASKED = {"q1": "one?", "q2": "two?"}
# Words of the command lines below.
SHORT = {
    "ALL": f"{QRELS} {PIXELS} {PCA} {PROFILE}",
    "ONE": f"{QRELS} {PROFILE}",
    "TWO": f"{PCA} {PROFILE}",
}
FILES: dict[str, str | bytes] = {
    "spans.csv": "query,document,start,end\nq1,a,3,9\nq1,a,20,24\n",
    "chunks.csv": "chunk,document,start,end\nc1,a,0,10\nc2,a,8,18\nc3,a,16,26\n",
    "chunks.run": "q1 Q0 c3 1 3 t\nq1 Q0 c1 2 2 t\n",
    "some.qrels": "q1 0 a 1\nq2 0 c 2\nq3 0 b 0\n",
    "other.qrels": "q1 0 a 0\nq1 0 b 0\nq2 0 c 1\nq3 0 b 2\nq4 0 b 1\n",
    "model.qrels": "".join(f"q{i} 0 a {i % 2}\nq{i} 0 b {i // 2 % 2}\n" for i in range(1, 9)),
    "people.qrels": "".join(f"q{i} 0 a {i % 4 // 2}\nq{i} 0 b 1\n" for i in range(1, 9, 2)),
    "a.run": "".join(f"q{i} Q0 a 1 2 a\nq{i} Q0 b 2 1 a\n" for i in range(1, 9)),
    "mined.run": "q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.8 t\nq1 Q0 d3 3 0.7 t\nq2 Q0 d1 1 0.5 t\n",
    "mined.qrels": "q1 0 d2 1\nq2 0 d1 1\n",
    "gone": "q1 d1\n",
    "docs.jsonl": "".join(json.dumps({"_id": own, **DOCS[own]}) + "\n" for own in DOCS),
    "asked.jsonl": "".join(json.dumps({"_id": own, "text": ASKED[own]}) + "\n" for own in ASKED),
    "docs.tsv": "id\ttext\ttitle\nd1\tfirst\t\nd2\tsecond\tTwo\n",
    "dev.qa.csv": "one?\t['1', 'I']\ntwo?\t['2']\n",
    "asked.qrels": "0 0 d2 1\n1 0 d1 1\n",
    "asked.run": "0 Q0 d1 1 0.9 t\n0 Q0 d2 2 0.8 t\n1 Q0 d2 1 0.5 t\n",
    "clusters.txt": "".join(f"{query} {cluster}\n" for query, cluster in CLUSTERS.items()),
}


@pytest.fixture(autouse=True)
def _inputs(folder: Path) -> None:
    write(FILES)


# A command line, the call whose result it prints, and the formats in which it does.
RESULTS = """
agree --depth 5 -p 0.8 --variant w pixels.run pca.run
  fr.overlap(PIXELS, PCA, depth=5, p=0.8, variant="w") => table markdown latex csv json
compare -m map -m P.10 -b pca --correction bonferroni ALL
  fr.compare(QRELS, ALL, "map P.10", baseline="pca", correction="bonferroni")
  table markdown latex html csv json
compare -m map --test randomization --interval percentile --level 0.9 --alpha 0.01
   --resamples 500 --seed 3 --exact-up-to 0 -l 2 -M 20 --ties docno_asc ALL
  fr.compare(QRELS, ALL, "map", test="randomization", interval="percentile", level=0.9,
    alpha=0.01, resamples=500, seed=3, exact_up_to=0, relevance_level=2, depth=20,
    ties="docno_asc")
  table json
compare -m map --clusters clusters.txt --test=randomization --interval=percentile
   --resamples=200 ALL
  fr.compare(QRELS, ALL, "map", clusters=CLUSTERS, test="randomization",
    interval="percentile", resamples=200)
  table json
eval -m num_q -m map -m P.5 ALL
  fr.table(fr.evaluate(QRELS, ALL, "num_q map P.5"), ["pixels", "pca", "profile"])
  table markdown latex
eval -m num_q -m map -m P.5 --name raw --name PCA --name p --digits 2 --no-bold --transpose ALL
  fr.table(fr.evaluate(QRELS, ALL, "num_q map P.5"), ["raw", "PCA", "p"], digits=2,
    bold=False).transpose()
  table markdown latex
explain -m map -m P.5 --query q0004 ONE
  fr.explain(QRELS, PROFILE, "map P.5", query="q0004") => text markdown html
explain -m map --other pca.run ONE => fr.explain(QRELS, PROFILE, "map", other=PCA) => text
explain -l 2 --ties docno_asc --depth 50 --rows 3 --query q0004 --other pca.run ONE
  fr.explain(QRELS, PROFILE, query="q0004", other=PCA, rows=3, relevance_level=2,
    ties="docno_asc", depth=50)
  text
qrels diff some.qrels other.qrels
  fr.diff_qrels("some.qrels", "other.qrels") => table markdown latex csv json
qrels holes -k 1 --by pair other.qrels a.run
  fr.unjudged("other.qrels", ["a.run"], 1, by="pair") => table csv
judges --seed 3 some.qrels other.qrels
  fr.judge_agreement("some.qrels", "other.qrels", seed=3) => table csv json
estimate --human people.qrels --judge model.qrels -m P.1 --seed 3 a.run
  fr.estimate("people.qrels", ["model.qrels"], ["a.run"], "P.1", seed=3) => table csv json
"""
# A command line; what it has printed (`out`) or written; and what a call gives.
VALUES = """
compare -q -m P.5 --format csv ALL => out => fr.compare(QRELS, ALL, "P.5").to_csv(per_query=True)
compare ALL => out => f'{fr.compare(QRELS, ALL)}\\n{HINT}\\n'
compare -b pca.run ALL => out => printed(f"compare -b pca {SHORT['ALL']}")
compare -m map -m P.10 --letters --sort P_10 --digits 1 --percent --ascii ALL
  out.removesuffix(f"{HINT}\\n")
  fr.compare(QRELS, ALL, "map P.10").to_text(letters=True, sort="P_10", digits=1, percent=True,
    ascii=True) + "\\n"
fuse --rrf-k 10 --weights 1,.5 -o x TWO => run("x") => fused(rrf_k=10, weights=[1, 0.5])
fuse --method rbc -p 0.9 -o x TWO => run("x") => fused("rbc", p=0.9)
fuse --method gmnz --gamma 2 -o x TWO => run("x") => fused("gmnz", gamma=2)
fuse --method logn_isr --sigma 1 -o x TWO => run("x") => fused("logn_isr", sigma=1)
fuse --method combsum --normalization z --unretrieved zero -o x TWO
  run("x") => fused("combsum", normalization="z", unretrieved="zero")
fuse --depth 20 --keep 10 --ties docno_asc --threads 1 -o x TWO
  run("x") => fused(depth=20, keep=10, ties="docno_asc")
fuse --trec-eval-version 10.0 -o x TWO => run("x") => fused(trec_eval_version="10.0")
fuse -o x TWO
  printed(f"trec_eval -m map {QRELS} x") => "map                   \\tall\\t0.4494\\n"
fuse -o x.csv.gz TWO => run("x.csv.gz") => fused()
fuse -o x.jsonl.xz TWO => run("x.jsonl.xz") => fused()
# Where the records go to a file, the summary is on standard output.
hard-negatives --format n-tuple --negatives 1 --skip-top 2 -o x mined.qrels mined.run
  json.loads(Path("x").read_text())["negative_1"] => "d3"
hard-negatives --format n-tuple --negatives 1 --margin 0.05 -o x mined.qrels mined.run
  json.loads(Path("x").read_text())["negative_1"] => "d3"
hard-negatives --format n-tuple --negatives 1 --exclude gone -o x mined.qrels mined.run
  json.loads(Path("x").read_text())["negative_1"] => "d3"
hard-negatives --negatives 1 --texts docs.jsonl --queries asked.jsonl -o x.jsonl.gz
   mined.qrels mined.run
  (out, records("x.jsonl.gz"))
  ("2 queries, 1 negative, 2 records; 1 query with fewer negatives than requested (1 with none)\\n",
    [*fr.hard_negatives("mined.qrels", "mined.run", 1).records(corpus=DOCS, queries=ASKED)])
hard-negatives --negatives 1 --format triplet --texts docs.tsv -o x mined.qrels mined.run
  records("x") => [{"anchor": "q1", "positive": "Two second", "negative": "first"}]
# Answers of the questions are written for DPR only.
hard-negatives --queries dev.qa.csv -o x asked.qrels asked.run
  [(own["question"], own["answers"]) for own in records("x")]
  [("one?", ["1", "I"]), ("two?", ["2"])]
hard-negatives --queries dev.qa.csv --format triplet -o x asked.qrels asked.run
  {own["anchor"] for own in records("x")} => {"one?", "two?"}
spans spans.csv chunks.csv => out => "q1 0 c1 1\\nq1 0 c2 0\\nq1 0 c3 1\\n"
spans --of chunk --characters 1 --grade share spans.csv chunks.csv -o chunks.parquet
  fr.read_qrels("chunks.parquet").to_dict()
  fr.span_qrels("spans.csv", "chunks.csv", of="chunk", characters=1, grade="share").to_dict()
spans -m 'SpanRecall@1 SpanIoU' spans.csv chunks.csv chunks.run -o means.csv
  Path("means.csv").read_text() => "run,SpanRecall@1,SpanIoU\\nchunks,0.4,0.5\\n"
spans --format csv -m SpanIoU spans.csv chunks.csv chunks.run
  out => "run,SpanIoU\\nchunks,0.5\\n"
spans -o - spans.csv chunks.csv => out => "q1 0 c1 1\\nq1 0 c2 0\\nq1 0 c3 1\\n"
qrels merge -o - some.qrels => out => "q1 0 a 1\\nq2 0 c 2\\nq3 0 b 0\\n"
qrels merge --format csv some.qrels
  out.splitlines()[:2] => ["query_id,doc_id,relevance", "q1,a,1"]
plan -n 4 --plan plan.json -o sheet.csv a.run
  Path("sheet.csv").read_text() => fr.read_plan("plan.json").sheet().to_csv()
plan -n 4 --plan plan.json -o - a.run
  out.replace("\\t", ",") => fr.read_plan("plan.json").sheet().to_csv()
compare --format html -o - ALL => out.startswith("<!DOCTYPE") => False
"""


def run(path: str) -> object:
    return fr.read_run(path).to_dict()


def records(path: str) -> list[dict[str, Any]]:
    return [*map(json.loads, read_all(path).splitlines())]


def fused(*method: Any, **options: Any) -> object:
    return fr.fuse([PCA, PROFILE], *method, **options).to_dict()


def command_line(words: str) -> str:
    return " ".join(SHORT.get(word, word) for word in words.split(" "))


def rendered(result: Any, form: str) -> str:
    """A result in a format, by its own method or that of its table."""
    if form in ("table", "text"):
        return str(result)
    if not hasattr(result, f"to_{form}"):
        result = result.table()
    return str(getattr(result, f"to_{form}")())


@pytest.mark.parametrize(("line", "call", "formats"), cases(RESULTS))
def test_a_command_prints_the_result_of_its_function(line, call, formats):
    result = eval(call)

    for form in formats.split():
        shown = printed(f"{command_line(line)} --format {form}").removesuffix(f"{HINT}\n")

        expected = rendered(result, form)
        if form == "json":
            assert json.loads(shown) == json.loads(expected)
        else:
            assert shown == expected.rstrip("\n") + "\n"


def test_the_values_of_another_tool_are_explained():
    scores = fr.evaluate(QRELS, PROFILE, "map", depth=10)
    write({"trec_eval.txt": scores.to_trec(per_query=True)})

    found = printed(f"explain --against trec_eval.txt {QRELS} {PROFILE}")

    assert "ours 0.3447. Reproduced to 4 decimals by depth=10" in found


@pytest.mark.parametrize(("line", "found", "expected"), cases(VALUES))
def test_a_command_writes_what_its_function_gives(line, found, expected):
    out = {"out": printed(command_line(line))}

    assert eval(found, globals(), out) == eval(expected)
