"""The Python interface: reading, evaluating, scores, evaluators."""

from __future__ import annotations

import collections
import copy
import os
import pickle
import random
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import fastrank as fr
from fastrank.core.matching import files as streaming
from fastrank.errors import NoQueriesError
from tests.helpers.parsing import parse_prefs, parse_qrels, parse_qrels_jg, parse_run
from tests.helpers.tables import giving, refusing

QRELS = b"q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq3 0 d 1\n"
RUN = b"q1 Q0 b 1 2.0 mine\nq1 Q0 a 2 1.0 mine\nq2 Q0 c 1 9 mine\nq9 Q0 z 1 1 mine\n"


def of(measures: Any = "map", qrels: Any = QRELS, run: Any = RUN, **options: Any) -> fr.Scores:
    """The scores of texts, or of other forms."""
    qrels = parse_qrels(qrels) if isinstance(qrels, bytes) else qrels
    run = parse_run(run) if isinstance(run, bytes) else run
    return fr.evaluate(qrels, run, measures, **options)


def mean(*given: Any, **options: Any) -> dict[str, float]:
    return dict(of(*given, **options).mean)


Result = collections.namedtuple("Result", ["query_id", "doc_id", "score"])
SCORES = of("map P.1,2")
NEW: Any = {"trec_eval_version": "10.0"}
LAST_GAIN = "utility.0,0,0,1"
GROUPS = parse_qrels_jg(b"q g1 a 1\nq g2 a 0\nq g2 b 1\n"), b"q Q0 a 1 2 t\nq Q0 b 2 1 t\n"
PREFERENCES = parse_prefs(b"q g s a 2\nq g s b 1\nq g s c 1\n")
BAC = b"q Q0 b 1 3 t\nq Q0 a 2 2 t\nq Q0 c 3 1 t\n"
RBP = b"q 0 a 3\nq 0 b 1\n", b"q Q0 b 1 1 t\n"
GM, NUMBERS, RUNID = of("map gm_map num_ret"), parse_run(RUN), of("runid map")
ONE_QUERY = {"q": {"d": 1}}, {"q": {"d": 1.0}}
ONE = fr.evaluate(*ONE_QUERY, "map")
EXCLUDED = fr.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0, "e": 2.0}}, exclude={"q": ["e"]})
PRINTED = [
    "map         0.7500",
    "recip_rank  0.7500",
    "the run lacks 1 of 3 judged queries (q3); it is left out (missing='zero' counts it as 0)",
    "1 query of the run has no judgments (q9)",
]

test_values_are_as_described = giving(r"""
# evaluate gives values per query and means: map of the two common queries is 0.5 and 1.0
SCORES.lists() => {"map": [0.5, 1.0], "P_1": [0.0, 1.0], "P_2": [0.5, 0.5]}
SCORES.mean => {"map": 0.75, "P_1": 0.5, "P_2": 0.5}
(SCORES.queries, SCORES.names) => (["q1", "q2"], ["map", "P_1", "P_2"])
(SCORES.counts["missing_queries"], SCORES.tag) => (1, "mine")
# named tuples in a list are one run
mean(qrels={"q1": {"a": 1}}, run=[Result("q1", "a", 1.0)]) => {"map": 1.0}
# trec_eval 10.0 also has values for the query without results
of(missing="zero", **NEW).queries => ["q1", "q2", "q3"]
of(missing="zero", **NEW)["map"].tolist() => [0.5, 1.0, 0.0]
# collection_size is -N
of(LAST_GAIN, collection_size=10)["utility_0,0,0,1"].tolist() => [8.0, 9.0]
# the largest gain of rbp may be that of a grade no document has: grade 3 is worth -1, grade 1 2/3
mean("rbp.3=-1", *RBP, **NEW) => pytest.approx({"rbp_3=-1": 0.1 * 2 / 3})
# geometric means have no values per query
GM.mean["gm_map"] => pytest.approx((0.5 * 1.0) ** 0.5)
# scores are a container of the names that have values per query
("map" in GM, "gm_map" in GM, list(GM), len(GM)) => (True, False, ["map", "num_ret"], 2)
str(GM).splitlines()[0] => "map      0.7500"
# relstring gives strings
of("relstring")["relstring"].tolist() => ["01", "2"]
# judgment groups are used by the measures for them
mean("map_avgjg", *GROUPS) => {"map_avgjg": 0.75}
# one of two preferences is fulfilled
mean("prefs_simp", PREFERENCES, BAC) => {"prefs_simp": 0.5}
# scores print as a table; then the queries that are in one of the two only
str(of("map recip_rank")).splitlines() => PRINTED
repr(of("map recip_rank")) => "<Scores of 'mine': 2 queries, 2 measures>"
# the name of the run is printed if asked for, with escapes
str(RUNID).splitlines()[:2] => ["runid  mine", "map    0.7500"]
RUNID.mean => {"map": 0.75}
str(of("runid", b"q1 0 a 1\n", b"q1 Q0 a 1 1 \xff\n")) => r"runid  \udcff"
# numbers of one are singular
repr(ONE) => "<Scores: 1 query, 1 measure>"
repr(ONE - ONE) => "<ScoreDifferences: 1 query, 1 measure>"
repr(fr.table(ONE)) => "<Table: 1 row, 2 columns>"
repr(fr.index_qrels([{1: 1}])) => "<ArrayQrels: 1 query, 1 judgment>"
repr(fr.Evaluator({"q": {"d": 1}}, "map")) => "<Evaluator of map: 1 judged query>"
str(EXCLUDED).splitlines()[-1] => "1 document was excluded from the rankings"
# columns are numpy arrays
(str(NUMBERS.scores.dtype), NUMBERS.scores.tolist()) => ("float64", [2.0, 1.0, 9.0, 1.0])
NUMBERS.offsets.tolist() => [0, 2, 3, 4]
""")

JUDGED = parse_qrels(QRELS)
TWICE = parse_run(b"q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n", "my.run")


def shares_none(judged: str, found: str, **options: Any) -> Any:
    return fr.evaluate({judged: {"d": 1}}, {found: {"d": 1.0}}, "map", **options)


FOUR = {f"q{i}": {"d": 1.0} for i in range(4)}
TWO_IDS = {"q1": {"d": 1}, "1": {"d": 1}}
NO_RELEVANT = {"q1": {"d": 0}, "q2": {"d": 1}}

test_what_cannot_be_evaluated_is_refused = refusing(r"""NoQueriesError
# values that are not there
GM["gm_map"] => KeyError: "'gm_map' is not among the values per query: map, num_ret"
of("P.5,abc") => MeasureError: unknown measure 'abc'; did you mean AUC?
# a measure for another format
of("map", PREFERENCES, BAC) =>
  EvaluationError: rel_info format not qrels: 'map' cannot be computed from -R prefs
# a duplicate document is named with its file and lines
of("map", b"q 0 a 1\n", TWICE) =>
  EvaluationError: query 'q': duplicate docs a, lines 1 and 3 of my.run
# other objects
fr.evaluate(7, "run.txt") =>
  TypeError: qrels: expected Qrels or Preferences, a dict, a pandas or polars DataFrame, an Arrow
  table, records, tuples or a file, found int
fr.evaluate(JUDGED, JUDGED) =>
  TypeError: run: expected a Run, a dict, a pandas or polars DataFrame, an Arrow table, records,
  tuples or a file, found Qrels
fr.evaluate(JUDGED, NUMBERS, None) => TypeError: measures: expected str, found NoneType
fr.evaluate(JUDGED, NUMBERS, [b"map"]) => TypeError: measures: expected str, found bytes
# options are integers that fit
of(collection_size=2**63) =>
  OptionError: collection_size: expected a 64-bit integer, found 9223372036854775808
of(collection_size=1.5) => TypeError: collection_size: expected an integer, found float
of(relevance_level=2**63) =>
  OptionError: relevance_level: expected a 64-bit integer, found 9223372036854775808
of(depth=2**80) => OptionError: depth: expected a 64-bit integer, found 1208925819614629174706176
# impossible options
of(trec_eval_version="9") => OptionError: trec_eval_version: expected '9.0.8' or '10.0', found '9'
of(depth=0) => OptionError: depth: expected 1 or more, found 0
of(threads=0) => OptionError: threads: expected 1 or more, found 0
# columns and nouns cannot be written
NUMBERS.scores.__setitem__(0, 1.0) => ValueError: assignment destination is read-only
setattr(NUMBERS, "tag", b"other") => AttributeError: Run is frozen
# a name that does not exist
fr.evalute => AttributeError: module 'fastrank' has no attribute 'evalute'
# where judgments and run have no query in common, ids of both sides are shown
fr.evaluate({"a": {"d": 1}, "b": {"d": 1}}, FOUR, "map") =>
  the run and the qrels share no query ids (run: 'q0', 'q1', 'q2', ...; qrels: 'a', 'b')
# runs in a dict are recognisable
fr.evaluate({"q1": {"d": 1}}, {"bm25": {"q1": 1.0}}, "map") =>
  the run and the qrels share no query ids (run: 'bm25'; qrels: 'q1')
# what the ids may differ by is asked
shares_none("q1", "Q1") => ... (run: 'Q1'; qrels: 'q1'); do the ids differ only in case?
shares_none("1", "1.0") => ... qrels: '1'); do the ids differ only as 1 and 1.0 do?
shares_none("7", "007") => ... qrels: '7'); do the ids differ only in leading zeros?
shares_none("q1", "q1 ") => ...; do the ids differ only in blanks or newlines around them?
shares_none("q1", "q1\n") => ...; do the ids differ only in blanks or newlines around them?
# nothing is asked where one difference does not explain it
fr.evaluate(TWO_IDS, {"Q2": {"d": 1.0}}, "map") =>
  the run and the qrels share no query ids (run: 'Q2'; qrels: 'q1', '1')
fr.evaluate(TWO_IDS, {"q1.0": {"d": 1.0}}, "map") =>
  the run and the qrels share no query ids (run: 'q1.0'; qrels: 'q1', '1')
fr.evaluate(TWO_IDS, {"Q1 ": {"d": 1.0}}, "map") =>
  the run and the qrels share no query ids (run: 'Q1 '; qrels: 'q1', '1')
fr.evaluate(TWO_IDS, {"01.0": {"d": 1.0}}, "map") =>
  the run and the qrels share no query ids (run: '01.0'; qrels: 'q1', '1')
# what has no queries is named
fr.evaluate({"q1": {"d": 1}}, {}, "map") => the run has no queries
fr.evaluate({}, {"q1": {"d": 1.0}}, "map") => there are no judged queries
# rows of arrays are named by their queries
fr.evaluate_arrays({"c": {1: 1}}, [[1], [1]], None, "map", queries=["a", "b"]) =>
  the run and the qrels share no query ids (run: 'a', 'b'; qrels: 'c')
# queries that were left out are counted
fr.evaluate(NO_RELEVANT, {"q1": {"d": 1.0}}, "map", no_relevant="skip") =>
  the run and the qrels share no query ids (run: 'q1'; qrels: 'q2'); skipped 1 judged query
  without a relevant document
""")


@pytest.mark.parametrize("form", ["trec", "csv"])
def test_a_file_is_looked_into_where_no_query_is_in_common(form, tmp_path):
    path = tmp_path / "run"
    path.write_text("query_id,doc_id,score\nQ1,d,1\n" if form == "csv" else "Q1 Q0 d 1 1 t\n")

    with pytest.raises(NoQueriesError) as caught:
        fr.evaluate({"q1": {"d": 1}}, str(path) if form == "csv" else path, "map")

    assert "(run: 'Q1'; qrels: 'q1'); do the ids differ only in case?" in str(caught.value)


def test_scores_ask_whether_document_ids_match_where_none_is_judged():
    question = "no retrieved document is judged: do the document ids of run and qrels match?"
    qrels = {"q1": {"d1": 1}}

    assert question in str(fr.evaluate(qrels, {"q1": {"D1": 1.0}}, "map"))
    assert question not in str(fr.evaluate(qrels, {"q1": {"D1": 1.0, "d1": 0.5}}, "map"))


def test_nouns_can_be_copied_and_pickled():
    qrels, run = parse_qrels(QRELS), parse_run(RUN)
    scores = fr.evaluate(qrels, run, "map relstring")

    copied = copy.copy(qrels), copy.copy(run)
    thawed = pickle.loads(pickle.dumps((qrels, run)))
    for again in (thawed, copy.deepcopy((qrels, run)), copied):
        assert fr.evaluate(*again, "map").mean == {"map": scores.mean["map"]}
    assert pickle.loads(pickle.dumps(scores)).to_dict() == scores.to_dict()
    assert len(pickle.loads(pickle.dumps(fr.MEASURES))) == len(fr.MEASURES)


def test_scores_of_a_file_keep_their_query_ids_like_a_list(tmp_path):
    """Though they are made when asked for; a pickle holds them, and not the judgments' file."""
    qrels = b"".join(b"q%d 0 d 1\n" % i for i in range(1000))
    path = tmp_path / "run"
    path.write_bytes(b"q2 Q0 d 1 1 t\nq1 Q0 d 1 1 t\nq3 Q0 d 1 1 t\n")
    scores = fr.evaluate(parse_qrels(qrels), path, "map")
    ids, as_list = scores.query_ids, [b"q1", b"q2", b"q3"]

    assert (ids == as_list, ids != scores.query_ids) == (True, False)
    assert (ids[0], ids[-1], ids[1:]) == (as_list[0], as_list[-1], as_list[1:])
    assert (len(ids), b"q2" in ids) == (3, True)
    assert pickle.loads(pickle.dumps(scores)).query_ids == ids
    assert len(pickle.dumps(ids)) < 100


# Evaluators

GRADES = {"q1": {"a": 1}, "q2": {"b": 2, "c": 0}}
FOUND = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"b": 1.0}}


def test_a_list_of_runs_gives_a_list_of_scores(tmp_path):
    """Of dicts, runs in memory and files, in their order, as one by one; again and again."""
    path = tmp_path / "run"
    path.write_text("q1 Q0 a 1 1 other\n")
    evaluator = fr.Evaluator(GRADES, "map")

    for _ in range(2):
        found = evaluator.evaluate([FOUND, fr.Run.from_dict(FOUND, tag="mine"), path])

        assert [scores.mean["map"] for scores in found] == [0.75, 0.75, 1.0]
        assert [scores.tag for scores in found[1:]] == ["mine", "other"]
        assert [scores.counts["missing_queries"] for scores in found] == [0, 0, 1]
    assert evaluator.evaluate([]) == []


def test_a_pickle_evaluates_as_the_original():
    evaluator = fr.Evaluator(GRADES, "map nDCG@10 P.1", no_relevant="skip", missing="zero")
    before = evaluator.evaluate(FOUND)

    copied = pickle.loads(pickle.dumps(evaluator))

    assert copied.evaluate(FOUND).to_dict() == before.to_dict()
    assert repr(copied) == repr(evaluator) == "<Evaluator of map P_1 nDCG@10: 2 judged queries>"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_process_forked_while_a_file_is_read_can_read_files(tmp_path, monkeypatch):
    """With the same evaluator: the thread that was reading does not exist there."""
    path = tmp_path / "run"
    path.write_text("q1 Q0 a 1 1 t\n")
    evaluator, reading, forked = fr.Evaluator(GRADES, "map"), threading.Event(), threading.Event()
    feed = streaming.feed_in_turn

    def wait_before(*fed: Any, **how: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            reading.set()
            forked.wait()
        return feed(*fed, **how)

    monkeypatch.setattr(streaming, "feed_in_turn", wait_before)
    thread = threading.Thread(target=evaluator.evaluate, args=(path,))
    thread.start()
    reading.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if evaluator.evaluate(path).mean == {"map": 1.0} else 1)

    _, status = os.waitpid(child, 0)
    forked.set()
    thread.join()

    assert os.waitstatus_to_exitcode(status) == 0


def runs_of_the_same_queries(count: int) -> list[dict[str, dict[str, float]]]:
    chance = random.Random(1)

    def ranking() -> dict[str, float]:
        return {f"d{n}": chance.random() for n in chance.sample(range(40), chance.randrange(40))}

    queries = ["q1", "q2", "q3", "other"]
    return [{query: ranking() for query in chance.sample(queries, 3)} for _ in range(count)]


GRADED = {f"q{i}": {f"d{n}": (n * i) % 4 - 1 for n in range(30)} for i in range(1, 5)}


@pytest.mark.parametrize(
    ("measures", "options"),
    [
        ("official ndcg ndcg_cut.5,10 rbp ERR@5 RBP@7", {}),
        ("all_trec relstring.3", {}),
        ("map P.5 num_rel relstring gm_map", {"missing": "zero"}),
        ("map P.5 FirstRank", {"missing": "zero", "trec_eval_version": "10.0"}),
        ("map nDCG@5 AP(rel=2)@10 P(judged_only=True)@5", {"relevance_level": 2}),
        ("ndcg.1=0.5 map", {"no_relevant": "one", "relevance_level": 3}),
        ("nDCG(dcg='exp-log2')@10 Hole@5 MedianRank", {"missing": "zero", "depth": 10}),
    ],
)
def test_every_run_has_the_scores_of_a_new_evaluator(measures, options):
    """Also in four threads at once; all are kept until the end: later runs do not change them."""
    evaluator, runs = fr.Evaluator(GRADED, measures, **options), runs_of_the_same_queries(100)
    expected = [fr.evaluate(GRADED, run, measures, **options).to_json() for run in runs]

    found = [evaluator.evaluate(run) for run in runs]
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(lambda run: evaluator.evaluate(run).to_json(), runs))

    assert [scores.to_json() for scores in found] == expected
    assert at_once == expected
