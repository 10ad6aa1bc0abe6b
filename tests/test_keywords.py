"""Options that several functions and commands share: described once, shown and checked alike."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import fastrank as fr
from fastrank.cli.eval import add_evaluation_options
from fastrank.cli.flags import given_options
from fastrank.cli.main import COMMANDS, parser_of
from fastrank.cli.parser import Parser
from fastrank.common.choices import Ties
from fastrank.common.keywords import Keyword, documented, names_of
from fastrank.compat.sentence_transformers import RankingEvaluator, RankingOptions
from fastrank.core.evaluation.likelihood import LikelihoodOptions
from fastrank.core.matching.keywords import (
    EVALUATION,
    ArrayOptions,
    DepthOptions,
    EvaluationOptions,
    LabelOptions,
    evaluation_options,
)
from fastrank.core.matching.options import MAX_RETRIEVED
from fastrank.searching import search, search_batches
from fastrank.vectors.embeddings.evaluation import ModelOptions
from fastrank.vectors.embeddings.index_benchmark import ComparisonOptions
from fastrank.vectors.embeddings.judged_search import EmbeddingOptions
from fastrank.vectors.embeddings.mining import MiningOptions
from fastrank.vectors.searching.search_options import SEARCH, RunOptions, SearchOptions
from tests.helpers.tables import refusing

# Each function with the options it takes, and the arguments that it cannot do without.
TAKES: list[tuple[Callable[..., Any], type, int]] = [
    (fr.evaluate, EvaluationOptions, 2),
    (fr.Evaluator, EvaluationOptions, 1),
    (fr.evaluate_arrays, ArrayOptions, 3),
    (fr.evaluate_labels, LabelOptions, 2),
    (fr.evaluate_embeddings, EmbeddingOptions, 3),
    (fr.evaluate_model, ModelOptions, 2),
    (fr.tie_report, DepthOptions, 2),
    (fr.negative_log_likelihood, LikelihoodOptions, 2),
    (fr.hard_negatives, MiningOptions, 3),
    (fr.compare_indexes, ComparisonOptions, 3),
    (search, RunOptions, 3),
    (search_batches, SearchOptions, 3),
    (RankingEvaluator, RankingOptions, 3),
]
NAMES = [function.__name__ for function, _, _ in TAKES]
# The options of `evaluate` that others lack, because they cannot mean anything there: a search has
# scores, no document twice, and its own name for the depth of a data set; labels have no ids, and
# all documents of a query; of checkpoints, queries without results count as 0.
LACKS: list[tuple[object, str]] = [
    (fr.Evaluator, ""),
    (fr.compare, ""),
    (fr.explain, ""),
    (fr.inspect, ""),
    (fr.gate, ""),
    (fr.save_baseline, ""),
    (fr.evaluate_arrays, "rank_by"),
    (
        fr.evaluate_labels,
        "rank_by missing ignore_identical_ids exclude duplicates judged_only",
    ),
    (fr.evaluate_embeddings, "rank_by duplicates"),
    # A data set says whether its queries are documents.
    (fr.evaluate_model, "rank_by ignore_identical_ids duplicates"),
    (fr.compare_indexes, "rank_by duplicates"),
    (RankingEvaluator, "rank_by missing duplicates"),
    ("eval", ""),
    ("compare", ""),
    ("explain", ""),
    ("inspect", ""),
    # Its `save` and `check` have their own parsers.
    ("eval-embeddings", "rank_by duplicates"),
    ("compare-indexes", "rank_by duplicates"),
]


@pytest.mark.parametrize(
    ("face", "lacking"), LACKS, ids=lambda value: getattr(value, "__name__", value)
)
def test_an_option_that_evaluate_has_is_dropped_nowhere(face, lacking):
    if isinstance(face, str):
        options = {action.dest for action in parser_of(face)._actions}
    else:
        options = {*inspect.signature(face).parameters}
    assert [name for name in names_of(EvaluationOptions) if name not in options] == sorted(
        lacking.split(), key=[*names_of(EvaluationOptions)].index
    )


@pytest.mark.parametrize(("function", "options", "_"), TAKES, ids=NAMES)
def test_the_signature_shows_each_option_with_its_type_and_default(function, options, _):
    parameters = inspect.signature(function).parameters
    described = {keyword.name: keyword for keyword in (*SEARCH, *EVALUATION)}

    for name, type_ in names_of(options).items():
        own = parameters[name]
        assert (own.kind, own.annotation) == (own.KEYWORD_ONLY, type_)
        assert own.default == described[name].default
    assert not any(own.kind is own.VAR_KEYWORD for own in parameters.values())


def test_the_options_of_evaluate_have_these_defaults():
    """Those of trec_eval 9.0.8."""
    parameters = inspect.signature(fr.evaluate).parameters.values()
    options = [own for own in parameters if own.kind is own.KEYWORD_ONLY]

    assert " ".join(f"{own.name}={own.default!r}" for own in options) == (
        "threads=None executor=None progress=None relevance_level=1 rank_by='score'"
        " ties='docno_desc' missing='skip' no_relevant='zero' ignore_identical_ids=False"
        " exclude=None duplicates='error' depth=None judged_only=False collection_size=0"
        " trec_eval_version='9.0.8'"
    )


@pytest.mark.parametrize(
    ("function", "options"),
    [(function, options) for function, options, _ in TAKES if function is not fr.Evaluator],
    ids=[name for name in NAMES if name != "Evaluator"],
)
def test_the_docstring_says_what_each_option_means(function, options):
    """Evaluator's refers to that of evaluate."""
    lines = (inspect.getdoc(function) or "").splitlines()

    for name in names_of(options):
        assert sum(line.startswith(f"{name}: ") for line in lines) == 1
    assert not any(line.startswith("**") for line in lines)


@pytest.mark.parametrize(("function", "options", "count"), TAKES, ids=NAMES)
def test_an_unknown_option_is_a_type_error_that_names_the_closest(function, options, count):
    arguments = [{"q": {"d": 1}}] * count
    name = next(iter(names_of(options)))

    with pytest.raises(TypeError, match=rf"\(\) got .* argument '{name}x'; did you mean '{name}'"):
        function(*arguments, **{f"{name}x": 1})


def test_the_trec_eval_command_has_the_same_defaults():
    """It makes its Options without the descriptions, which would cost it time."""
    described = {own.name: own.default for own in EVALUATION}
    assert (described.pop("missing"), described.pop("depth")) == ("skip", None)
    assert described.pop("exclude") is None

    made = evaluation_options({})

    assert {name: getattr(made, name) for name in described} == described
    assert (made.complete, made.missing_is_error, made.exclude) == (False, False, {})
    assert made.max_retrieved == MAX_RETRIEVED


def test_descriptions_stand_where_the_docstring_leaves_room_for_them():
    words = " ".join(["word"] * 30)
    keywords = [Keyword("depth", None, "how deep."), Keyword("ties", "given", words)]

    made = documented("    first: of all.\n    **options: see X.\n\n    Last.", keywords)

    lines = made.splitlines()
    assert lines[:2] == ["    first: of all.", "    depth: how deep."]
    assert lines[2].startswith("    ties: word")
    assert lines[3].startswith("        word")
    assert max(map(len, lines)) <= 100
    assert lines[-2:] == ["", "    Last."]


def test_every_option_of_evaluate_is_a_flag_of_the_command():
    parser = Parser()
    add_evaluation_options(parser, EvaluationOptions)

    given = parser.parse_args([])

    assert given_options(given, EvaluationOptions) == {own.name: own.default for own in EVALUATION}


def test_the_help_of_a_flag_is_the_first_sentence_on_the_parameter():
    def function(size: int = 3, log_file: str | None = None, ties: Ties = "given") -> None:
        """Do it.

        size: how many documents, of 100 %
            at most. Not shown.
        log_file, other: where to write; not with a `size`, which
            raises OptionError, nor log_file
        ties: "given" or "best".

        Returns: nothing.
        """

    parser = Parser(prog="do")
    parser.add_flags(function, ["log_file", "size", "ties"], defaults={"size": 0})

    shown = " ".join(parser.format_help().split())
    assert "--size N how many documents, of 100 % at most (default: 0) --log-file NAME" in shown
    assert shown.endswith("where to write; not with a `size`, which is an error, nor --log-file")
    assert '{docno_desc,docno_asc,given,best,worst,average} "given" or "best" (def' in shown


def test_every_flag_has_a_help():
    parsers = [parser_of(name) for name in COMMANDS if name != "trec_eval"]
    parsers += [step for own in parsers if own.steps for step in own.steps.choices.values()]

    assert [
        (parser.prog, action.dest)
        for parser in parsers
        for action in parser.arguments
        if not action.help
    ] == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["-l", "0.5", "--ties", "given", "-M", "3", "--missing", "zero"],
            {"relevance_level": 0.5, "ties": "given", "depth": 3, "missing": "zero"},
        ),
        (
            ["-k", "7", "--metric", "l2", "--no-progress", "--gpu", "--train-size", "9"],
            {"k": 7, "metric": "l2", "progress": False, "gpu": True, "train_size": 9},
        ),
    ],
)
def test_flags_are_values_of_their_options(words, expected):
    parser = Parser()
    parser.add_flags(fr.evaluate_embeddings, EmbeddingOptions)

    found = given_options(parser.parse_args(words), EmbeddingOptions)

    assert {name: found[name] for name in expected} == expected


test_an_option_by_another_name_is_suggested = refusing("""TypeError
fr.evaluate({}, {}, thread=1) => evaluate() got ... argument 'thread'; did you mean 'threads'?
fr.evaluate({}, {}, level=1) => ... argument 'level'; did you mean 'relevance_level'?
fr.evaluate({}, {}, k=1) => ... argument 'k'; did you mean 'depth'?
fr.evaluate({}, {}, cutoff=1) => ... argument 'cutoff'; did you mean 'depth'?
fr.evaluate({}, {}, metrics=1) => ... argument 'metrics'; did you mean 'measures'?
fr.evaluate({}, {}, order=1) => ... argument 'order'; did you mean 'ties'?
fr.evaluate({}, {}, xyz=1) => evaluate() got an unexpected keyword argument 'xyz'
fr.evaluate_embeddings({}, {}, {}, top_k=1) => ... argument 'top_k'; did you mean 'k'?
fr.evaluate_embeddings({}, {}, {}, cutoff=1) => ... argument 'cutoff'; did you mean 'k'?
fr.evaluate_embeddings({}, {}, {}, doc_ids=1) => ... argument 'doc_ids'; did you mean 'corpus_ids'?
fr.evaluate_embeddings({}, {}, {}, quer_ids=1) => ... did you mean 'query_ids'?
""")


@pytest.mark.parametrize("function", [fr.compare, fr.inspect, fr.save_baseline, fr.compare_indexes])
def test_functions_have_one_default_for_measures(function):
    assert inspect.signature(function).parameters["measures"].default == "map ndcg_cut.10 P.10"


@pytest.mark.parametrize(
    "command", ["compare", "explain", "inspect", "estimate", "compare-indexes", "gate save"]
)
def test_commands_have_the_default_of_the_functions(command):
    name, *steps = command.split()
    parser: Any = parser_of(name)
    for step in steps:
        parser = parser.steps.choices[step]

    assert "(default: map ndcg_cut.10 P.10" in " ".join(parser.format_help().split())


@pytest.mark.parametrize(
    "call",
    [fr.evaluate, fr.compare, fr.inspect, partial(fr.save_baseline, io.BytesIO())],
    ids=["evaluate", "compare", "inspect", "save_baseline"],
)
def test_measures_may_come_from_an_iterator(call):
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}, "q2": {"c": 1.0}}
    runs = [run, run] if call in (fr.compare, fr.inspect) else run

    result = call(qrels, runs, iter(["map", "P_5"]))

    assert list(getattr(result, "comparison", result).mean) == ["map", "P_5"]
