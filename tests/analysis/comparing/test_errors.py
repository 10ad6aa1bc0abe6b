"""What cannot be compared: each call has one clear error."""

from __future__ import annotations

import io

import pytest

import fastrank as fr
from fastrank.analysis.comparing import groups  # noqa: F401 (in a table)
from fastrank.errors import InputError, MeasureError
from tests.helpers.call_rows import check_error, failing
from tests.helpers.comparisons import compare_data, data_scores, pair_of, random_rows, scores_of  # noqa: F401 (in tables)

QRELS = {f"q{i:02d}": {"a": 1, "b": 0} for i in range(12)}
RUN = {query: {"a": 2.0, "b": 1.0} for query in QRELS}
SHORT = {query: RUN[query] for query in RUN if query != "q01"}
OTHER = {f"x{query}": docs for query, docs in RUN.items()}
TWO = scores_of(random_rows(2, 12))
SCORES_30 = scores_of(random_rows(2, 30))
AP, SHORT_AP, P5 = (*fr.evaluate(QRELS, [RUN, SHORT], "map"), fr.evaluate(QRELS, RUN, "P.5"))
PIXELS, PCA = (data_scores()[name] for name in ("pixels", "pca"))
A, B = {"a": {"q1": 1.0}}, {"b": {"q1": 1.0}}
SETS = {f"set{d}": TWO for d in range(5)}
REPEATED = fr.read_run(io.BytesIO(b"q Q0 b 1 3 x\nq Q0 a 1 2 x\nq Q0 b 2 1 x\n"))
TWICE = fr.Run.from_arrays(["q", "q"], ["x", "x"], [1, 2])


@failing("""
compare_scores(SCORES_30, test="randomization", interval="percentile",
    clusters={f"q{q:03d}": 0 for q in range(1, 30)})
    -> GroupError: clusters: no cluster for 1 of 30 queries: q000
compare_scores([]) -> GroupError: expected at least one system
compare_scores(7) -> TypeError: expected a list of Scores
compare_scores({"a": {}, "b": {}}) -> GroupError: no system has a query
compare_scores({"a": {"q": "x"}}) -> InputError: scores of 'a': query 'q': expected a number, found
compare_scores({"a": {1: 0.1, "1": 0.2}, **B}) -> InputError: scores of 'a': query '1' appears twice
compare_scores({**A, "b": {"q1": math.inf}})
    -> GroupError: value: the value of 'b' for query 'q1' is infinite
compare_scores({"a": {"q1": 1, "q2": 2}, "b": {"q1": 1, "q2": -1e308}})
    -> GroupError: 'b' for query 'q2' is -1...; values above 1e+100 can
compare_scores({"a": {"q1": 1, "q2": 2}, "b": {"q1": 1, "q2": 1.1e100}})
    -> GroupError: 'b' for query 'q2' is 1.1...; values above 1e+100 can
compare_scores({**A, "b": {"q1": None}}) -> GroupError: value: 'b' has no value for any query
compare_scores([AP, SHORT_AP])
    -> GroupError: 'run' and 'run (2)' have different queries: 1 only in 'run' (q01), 0 only in
    'run (2)' (queries='common' compares on the 11 in common)
compare_scores({**A, "b": {"q2": 1.0}}) -> GroupError: 1 only in 'b' (q2)$
compare_scores({**A, "b": {"q2": 1}}, queries="common") -> GroupError: no query in com
compare_scores({**A, "b": {"q2": 1, "q3": 1}}, queries="common")
    -> GroupError: in common: 'a' has 1 query (q1), 'b' has 2 queries (q2, q3)
compare_scores([AP, P5]) -> MeasureError: 'run' and 'run (2)' have different measures
compare(QRELS, [RUN, RUN], "map", names=["x"]) -> OptionError: names: expected 2
compare(QRELS, [RUN, RUN], "map", names="xy") -> OptionError: expected a list of names, found 'xy'
compare(QRELS, [OTHER, OTHER], "map", missing="zero")
    -> GroupError: no run has results for any judged query
compare(QRELS, {"x": RUN, "y": OTHER}, "map")
    -> RunError: y: the run and the qrels share no query ids
compare(QRELS, {"x": RUN, "y": SHORT}, "map", missing="error")
    -> RunError: y: 1 of 12 judged queries is missing
compare(QRELS, [RUN, {"q00": {"a": 1.0}}], "map", missing="error")
    -> RunError: run 2: 11 of 12 judged queries are missing
compare(QRELS, {"x": RUN}, "map", baseline="x")
    -> OptionError: 'x' is the only system; compare it with another
compare(QRELS, [RUN, RUN], "gm_map")
    -> MeasureError: gm_map has no values per query; compare map instead
compare_data().to_text(digits=-1) -> OptionError: digits: expected 0 or more
compare_data().to_text(percent=2) -> OptionError: percent: expected
compare_data().to_text(sort="mapp") -> MeasureError: 'mapp' is not compared
fr.measure(len, better="best") -> OptionError: better: expected one of 'higher', 'low
""")
def test_what_cannot_be_compared_is_an_error(call: str, error: str) -> None:
    check_error(call, error, globals())


def test_a_frame_without_systems_is_an_error() -> None:
    pandas = pytest.importorskip("pandas")

    with pytest.raises(InputError, match="no system column: found 'query', 'P_5'"):
        fr.compare_scores(pandas.DataFrame({"query": ["1"], "P_5": [1.0]}))


@pytest.mark.parametrize("measure", ["gm_map", "num_q", "relstring"])
def test_a_measure_without_values_per_query_is_an_error(measure: str) -> None:
    scores = fr.evaluate(QRELS, [RUN, RUN], [measure, "map"])

    with pytest.raises(MeasureError, match="no values per query"):
        fr.compare_scores(scores)


@failing("""
compare_data(test="u") -> OptionError: test: expected one of ... found 'u'$
compare_data(test="ttest") -> OptionError: test: ... did you mean 't'?$
compare_data(test="fisher") -> OptionError: test: ... did you mean 'randomization'?$
compare_data(correction="fdr") -> OptionError: correction: ... did you mean 'bh'?$
compare_data(correction="sidak") -> OptionError: correction: expected one of
compare_data(test="tukey", correction="holm")
    -> OptionError: correction: test='tukey' already corrects
compare_data(correction="max-t") -> OptionError: correction: 'max-t' needs a baseline
compare_data(correction="max-t", test="sign", baseline=0)
    -> OptionError: 'max-t' needs test='t'
compare_data(correction="max-t", baseline=0, family="all")
    -> OptionError: correction: 'max-t' corrects within each measure; omit family='all'
compare_data(alpha=0) -> OptionError: alpha: expected a number between 0 and 1
compare_data(level=95) -> OptionError: level: expected a number between 0 and 1
compare_data(resamples=0) -> OptionError: resamples: expected 1 or more
compare_data(seed=-1) -> OptionError: seed: expected 0 or more
compare_data(exact_up_to=60) -> OptionError: exact_up_to: expected a number from 0 to 52
compare_data(min_difference=-1) -> OptionError: min_difference: expected 0 or more
compare_data(interval="normal") -> OptionError: interval: expected one of
compare_data(clusters={1: 0, "1": 0}) -> OptionError: clusters: a query appears twice
compare_data(clusters={}) -> OptionError: clusters: the test 't' treats queries as independent
compare_data(clusters={}, test="randomization")
    -> OptionError: clusters: the interval 't' treats
compare_data(baseline="pixel")
    -> OptionError: baseline: 'pixel' is not ... did you mean 'pixels'
compare_data(baseline=3) -> OptionError: baseline: expected a name or an index below 3
compare_data(baseline=True) -> OptionError: baseline: expected a name or an index, found
compare_data(baseline=[False]) -> OptionError: baseline: expected a name or an index, found
compare_data(baseline=np.True_) -> OptionError: baseline: expected a name or an index, found
pair_of([1, 2], [2, 3.5], test=lambda *_: math.nan)
    -> OptionError: expected a p-value from 0 to 1
""")
def test_invalid_options_are_errors(call: str, error: str) -> None:
    check_error(call, error, globals())


@failing("""
compare_data(baseline="pca").pair("map", "pixels", "profile")
    -> OptionError: 'pixels' and 'profile' were not compared: neither
compare_data(baseline="pca").letters("map") -> OptionError: letters needs all pairs
groups.alike(range(40), [(place, place + 1) for place in range(0, 40, 2)])
    -> OptionError: 40 systems form more than 10,000 overlapping groups
compare_data(baseline="pca").to_text(letters=True) -> OptionError: letters: needs all pairs
compare(QRELS, [RUN, RUN], "num_ret").best("num_ret") -> MeasureError: neither higher nor lower
compare_data().largest("map", pair=("pixels", "pcaa"))
    -> OptionError: 'pcaa' is not one of the systems; did you mean 'pca'
compare_data().largest("map", pair="pca")
    -> OptionError: pair: expected the names of two systems, found 'pca'
compare_data().largest("map", pair=["pca"])
    -> OptionError: pair: expected the names of two systems, found
compare_scores(A).largest("value") -> OptionError: needs two systems, found 1
compare_scores(TWO).power("value", differences=["0.1"])
    -> TypeError: differences: expected a number, found str
data_scores()["pixels"].interval("map", method="none") -> OptionError: method
""")
def test_questions_that_a_comparison_cannot_answer_are_errors(call: str, error: str) -> None:
    """Of 20 pairs of systems that differ, each group has one of both: there are 2**20."""
    check_error(call, error, globals())


@failing("""
topics_needed(0.05)
    -> OptionError: sd: expected the standard deviation of the differences, found None
topics_needed(0.05, sd=0) -> OptionError: sd
topics_needed(0.05, sd=0.1, alpha=1) -> OptionError: alpha
topics_needed(0.05, systems=3) -> OptionError: variance
topics_needed(0.05, systems=3, variance=1, sd=1)
    -> OptionError: systems: give systems and variance together, without sd
topics_needed(1e-9, sd=1) -> OptionError: more than 1,000,000,000 topics are needed
""")
def test_designs_that_do_not_fit_are_errors(call: str, error: str) -> None:
    check_error(call, error, globals())


@failing("""
compare_datasets({}) -> GroupError: expected at least one data set
compare_datasets([A]) -> TypeError: data set: scores of systems}, found list
compare_datasets({"x": A, "y": B})
    -> GroupError: 'x' and 'y' have different systems: only one has 'a'
compare_datasets({"x": A, "y": {"a": {"q1": {"m": 1.0}}}})
    -> MeasureError: different measures: only one has m
compare_datasets({"x": {"a": {"q1": 1.0, "q2": 0.5}, "b": {"q1": 0.5}}})
    -> GroupError: data set 'x': 'a' and 'b' have different queries
compare_datasets(SETS, resample_queries=True)
    -> OptionError: resample_queries: needs interval='percentile', fou
compare_datasets(SETS, resample_queries=True, interval="percentile", test="randomization",
    clusters={})
    -> OptionError: resample_queries: cannot be combined with clusters
""")
def test_data_sets_that_do_not_match_are_errors(call: str, error: str) -> None:
    check_error(call, error, globals())


@failing("""
agreement({"x": 1, "y": 2}, {"y": 1, "z": 2, "w": 3})
    -> GroupError: only a has 'x' and only b has 'z', 'w'; items='common' compares those
    that both have
agreement([1, 2], [1, 2, 3]) -> GroupError: a has 2 and b 3 numbers: expected one per system
agreement([1, 2], [1, 2, 3], items="common")
    -> GroupError: a has 2 and b 3 numbers: expected one per system
agreement({"x": 1}, {"y": 1}) -> GroupError: only a has 'x' and only b has 'y'
agreement({"x": 1}, {"y": 1}, items="common") -> GroupError: no system in common
agreement({}, {}) -> GroupError: a and b have no system in common
agreement([1], [1], items="all") -> OptionError: items: expected one of 'same', 'com
agreement([PIXELS, PCA], [PIXELS, PCA])
    -> MeasureError: a: expected Scores of one measure, found 4: map, P
agreement(compare(QRELS, [RUN], "map"), compare(QRELS, [RUN], "map P.5"))
    -> MeasureError: b: expected a Comparison of one measure, found 2
agreement([PIXELS, PIXELS], [PIXELS, PIXELS])
    -> GroupError: a: two Scores have the name 'pixels'
agreement({"x": 1}, {"x": math.nan}) -> InputError: b: the score of 'x' is NaN and cannot be ranked
agreement(3, {"x": 1}) -> TypeError: a: expected
agreement("map", {"x": 1}) -> TypeError: a: expected
agreement({"x": "0.5"}, {"x": 1}) -> TypeError: a: 'x': expected a number, found str
agreement({"x": None}, {"x": 1}) -> TypeError: a: 'x': expected a number, found NoneType
agreement(AP, {"x": 1}) -> TypeError: a: expected
agreement({"x": 1.0}, "data/pixels.run")
    -> TypeError: b: expected scores of systems, as the other has, found a
agreement({"q": {"x": 1, "y": 2}}, {"q": {"y": 1, "z": 2}})
    -> GroupError: query 'q': only a has 'x' and only b has 'z'; items=
agreement({"q": {"x": 1}, "r": {"x": 1}}, {"q": {"x": 1}})
    -> GroupError: only a has 'r'; items='common'
agreement({"r": {"x": 1}}, {"q": {"x": 1}}, items="common")
    -> GroupError: a and b have no query in common
agreement(TWICE, {"q": {"x": 1}}) -> InputError: query 'q': duplicate document 'x' in row 1
""")
def test_scores_and_runs_whose_agreement_is_undefined_are_errors(call: str, error: str) -> None:
    check_error(call, error, globals())


@failing("""
overlap({"q1": {"a": 1}}, {"q2": {"a": 1}, "q3": {"a": 1}})
    -> GroupError: no query: they have 1 query ('q1') and 2 queries ('q2', 'q3')
overlap({"p": {"a": 1}, "q": {"a": 1}}, REPEATED)
    -> InputError: query 'q': document 'b' appears twice, lines 1 and 3
overlap(REPEATED, {"p": {"a": 1}, "q": {"a": 1}})
    -> InputError: query 'q': document 'b' appears twice, lines 1 and 3
overlap(RUN, RUN, depth=0) -> OptionError: depth: expected 1 or more
overlap(RUN, RUN, p=1) -> OptionError: p: expected a number between 0 and 1
overlap(RUN, RUN, variant="mean") -> OptionError: variant: expected one of
overlap(RUN, RUN, trec_eval_version="8")
    -> OptionError: trec_eval_version: expected '9.0.8' or '10.0'
rbo("a", "b", variant="c") -> OptionError: variant: expected one of 'w', 'a', 'b', found 'c'
rbo("a", "b", depth=0) -> OptionError: depth: expected 1 or more, found 0
rbo([*"ab"], [*"ba"], 0) -> OptionError: p: expected a number between 0 and 1, both
rbo([*"ab"], [*"ba"], 1) -> OptionError: p: expected a number between 0 and 1, both
rbo([*"ab"], ["x", ("y", "x")]) -> InputError: b: 'x' appears twice in the ranking
rbo({"x": math.nan}, ["x"]) -> InputError: a: the score of 'x' is NaN and cannot be ranked
rbo(fr.Run.from_dict({"q": {"a": 1.0}}), ["a"]) -> TypeError: found Run; for runs, use overlap
rbo(3, [*"ab"]) -> TypeError: a: expected
rbo("ab", [*"ab"]) -> TypeError: a: expected
rbo({"a", "b"}, [*"ab"]) -> TypeError: a: expected
rbo([{"a": 1}], [*"ab"]) -> TypeError: a: expected
rbo([[["a"]]], [*"ab"]) -> TypeError: a: expected
""")
def test_rankings_whose_overlap_is_undefined_are_errors(call: str, error: str) -> None:
    check_error(call, error, globals())
