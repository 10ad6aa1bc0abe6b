"""What commands print: the words of their results and notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.commands import fastrank, write
from tests.helpers.paths import DATA
from tests.helpers.tables import cases, matches

FILES = {
    "qrels": "q1 0 d1 1\n",
    "two.qrels": "q1 0 d1 1\nq2 0 d1 1\n",
    "run": "q1 Q0 d1 1 1 t\n",
    "more.qrels": "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n",
    "high.run": "q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\nq2 Q0 d1 1 9 t\n",
    "marked.qrels": "\ufeffq1 0 d1 1\nq2 0 d1 1\n",
    "nul.run": "q1 Q0 d1 1 1 t\n\0q1 Q0 z 9 t\n",
    "q2.run": "q2 Q0 d1 1 1 t\n",
    "unjudged.run": "q1 Q0 D1 1 1 t\n",
    "more.run": "q1 Q0 d1 1 1 t\nx Q0 d1 1 1 t\ny Q0 d1 1 1 t\n",
    "more.csv": "query_id,doc_id,score\nq1,d1,1\nx,d1,1\ny,d1,1\n",
    "other.qrels": "q1 0 d1 2\nq1 0 d2 2\n",
    "high.qrels": "q1 0 d1 high\n",
    "comma.run": "q1 Q0 d1 1 0,9 t\n",
    "nan.run": "q1 Q0 d1 1 nan t\n",
    "broken": "5 Q0 d1\n",
    "a.run": "q Q0 d1 1 3.0 a\nq Q0 d2 2 2.0 a\n",
    "b.run": "q Q0 d2 1 9.0 b\nq Q0 d3 2 8.0 b\np Q0 d3 1 8.0 b\n",
    "close.run": "q Q0 d1 1 1.00000001 x\nq Q0 d2 2 1.0 x\n",
    "bad.run": "".join(f"q{i} Q0 d 1 x t\n" for i in range(5)),
    "mined.qrels": "q1 0 d2 1\nq2 0 d1 1\n",
    "mined.run": "q1 Q0 d1 1 9 t\nq1 Q0 d2 2 8 t\nq1 Q0 d3 3 7 t\nq2 Q0 d1 1 5 t\n",
}
# Words of the command lines below.
SHORT = {
    "ALL": "digits.qrels pixels.run pca.run profile.run",
    "TWO": "digits.qrels pixels.run pca.run",
    "AB": "--name a --name b digits.qrels pixels.run short.run",
}
# A command line that succeeds; what it prints, in which ... stands for any text, and, after
# `note:`, what it prints to standard error.
PRINTED = """
compare --pairs -m map ALL
  measure ... map pca profile 0.3493 0.3447 +0.0046 [-0.0122, +0.0214] 0.5880 102/4/94 0.0384 ...
compare --pairs --format markdown digits.qrels pixels.run pixels.run
  ...identical on every query...mean a - mean b...
compare --pairs --format latex digits.qrels pixels.run pixels.run
  ...identical on every query...mean a - mean b...
compare --pairs --format html digits.qrels pixels.run pixels.run
  ...identical on every query...mean a - mean b...
compare -q -m P.5 digits.qrels pixels.run => measure query pixels ---... P_5 q0000 ...
compare --name one --name two -b two TWO => system map ...- one 0.4348...
compare --ascii digits.qrels first second => ...system map ndcg_cut_10 P_10...
# Missing queries are left out, or count as 0.
compare AB
  ...Note: b lacks 1 of 200 judged queries (q0007); it is left out (--missing zero counts it as
    0)...
compare --missing zero AB => ...Note: b lacks 1 of 200 judged queries (q0007); it counts as 0...
compare --largest 2 -m map ALL => ...
  note: of 3 runs, pixels and pca are shown, the two best in map; --pair RUN RUN shows two others
compare --plot a.svg --plot-kind scatter -m map ALL => ...
  note: of 3 runs, pixels and pca are shown, the two best in map; --pair RUN RUN shows two others
compare -b profile --plot a.svg --plot-kind scatter -m map ALL => ...
  note: of 3 runs, pixels and profile are shown, the best and the baseline in map; --pair RUN RUN
    shows two others

eval -m map digits.qrels short.run => ...
  note: short.run: the run lacks 1 of 200 judged queries (q0007); it is left out (--missing zero
    counts it as 0)
eval -m map digits.qrels tiny.run => ...
  note: tiny.run: the run lacks 198 of 200 judged queries (...); they are left out (--missing zero
    counts them as 0)
eval -m map qrels unjudged.run => run all unjudged map all 0.0000
  note: unjudged.run: no retrieved document is judged: do the document ids of run and qrels match?
eval -m map -l 2 qrels run => run all run map all 0.0000
  note: run: no judged document is relevant: is the relevance level above all grades?
eval -m map marked.qrels q2.run => run all q2 map all 1.0000
  note: marked.qrels: ignored a byte order mark, which trec_eval reads as part of the first query id
    fastrank eval: q2.run: the run lacks 1 of 2 judged queries (q1); it is left out (--missing zero
    counts it as 0)
eval -m map two.qrels run => run all run map all 1.0000
  note: run: the run lacks 1 of 2 judged queries (q2); it is left out (--missing zero counts it as
    0)
eval -m map -c two.qrels run => run all run map all 0.5000
  note: run: the run lacks 1 of 2 judged queries (q2); it counts as 0
eval --format trec -m map qrels more.run more.csv
  run all more.run map all 1.0000 run all more.csv map all 1.0000
  note: more.run: 2 queries of the run have no judgments (x, y) fastrank eval: more.csv: 2 queries
    of the run have no judgments (x, y)

# trec_eval takes in silence what eval notes or refuses.
trec_eval -m map qrels unjudged.run => map all 0.0000
trec_eval -m map -l 2 qrels run => map all 0.0000
trec_eval -m map two.qrels run => map all 1.0000
  note: the run lacks 1 of 2 judged queries (q2); it is left out (-c counts it as 0)
trec_eval -m map -c two.qrels run => map all 0.5000
trec_eval -D 2.q1 -m map more.qrels high.run => map all 0.5000
  note: debug: query q1: retrieved 2, relevant 1, relevant retrieved 1; rank:grade 1:0 2:1
trec_eval -m num_ret qrels nul.run => num_ret all 1
  note: nul.run:2: the line begins with a NUL byte, which ends the file: 13 bytes...
trec_eval -v =>  => note: trec_eval version 9.0.7 (fastrank ...
trec_eval -m map high.qrels run => map all 0.0000
trec_eval -m map qrels comma.run => map all 1.0000
trec_eval -m map qrels nan.run => map all 1.0000

explain -m P.5 --document d0097 --document d0014 --query q0004 digits.qrels profile.run
  d0097: grade 2, score -118 P_5: rank 12, below the cutoff 5 d0014: grade 2 P_5: not retrieved
explain -m map --query q1 two.qrels q2.run => ...(--missing zero counts it as 0)...

compare-indexes --help => ...recall@k the share of the exact top k...

fuse --tag both a.run b.run
  p Q0 d3 1 0.01639344262295082 both q Q0 d2 1 0.03252247488101534 both
    q Q0 d1 2 0.01639344262295082 both q Q0 d3 3 0.016129032258064516 both
  note: run 1 (a.run) lacks 1 of 2 queries (p)
fuse --keep 1 --trec-eval-version 10.0 close.run close.run => q Q0 d1 ...
fuse --keep 1 close.run close.run => q Q0 d2 ...

agree --format json qrels.run qrels.run
  [ { "query": "q1", "shared@10": 1, "jaccard@10": 1.0, "rbo": 1.0, "tau": null, "ktu": null },
    { "query": "all", "shared@10": 1.0, "jaccard@10": 1.0, "rbo": 1.0, "tau": null, "ktu": null } ]
agree --depth 1 --format csv close.run a.run => query,... q,0,...
agree --depth 1 --format csv --trec-eval-version 10.0 close.run a.run => query,... q,1,...

hard-negatives --format triplet mined.qrels mined.run
  {"anchor": "q1", "positive": "d2", "negative": "d1"}
    {"anchor": "q1", "positive": "d2", "negative": "d3"}
  note: 2 queries, 2 negatives, 2 records; 2 queries...
qrels merge qrels other.qrels => q1 0 d1 1 q1 0 d2 2
  note: fastrank qrels merge: 1 pair with different grades; chosen: first
gate save -m RR two.qrels run => ...
  note: fastrank gate save: run: the run lacks 1 of 2 judged queries (q2); it is left out (--missing
    zero counts it as 0)

measures hit_ratio_10
  ...divided by those at any rank...average 'macro' | 'micro' (macro): averaging: over queries,
    or...
measures MRR => ...Also called MRR, RR_k...
measures P_5 => ...In the sets official, all_trec. Source: trec_eval P.
measures P@10 => ...cutoff rank (required): the rank k: only the first k documents count...
"""


@pytest.fixture(autouse=True)
def _inputs(folder: Path) -> None:
    write({**FILES, "qrels.run": FILES["run"]})
    lines = (DATA / "pca.run").read_text().splitlines(keepends=True)
    write({"first": "".join(lines), "second": "".join(lines), "tiny.run": "".join(lines[:150])})
    write({"short.run": "".join(line for line in lines if not line.startswith("q0007 "))})


@pytest.mark.parametrize("case", cases(PRINTED), ids=lambda case: case[0])
def test_a_command_prints(case):
    words, expected, *notes = case
    if "--plot" in words:
        pytest.importorskip("matplotlib")
    line = " ".join(SHORT.get(word, word) for word in words.split(" "))

    found = fastrank(line)

    command = line.split()[0]
    name = command if command == "trec_eval" else f"fastrank {command}"
    assert found.status == 0
    assert matches(found.out, expected), found.out
    assert matches(found.err.removeprefix(f"{name}: "), "".join(notes).removeprefix("note: "))
