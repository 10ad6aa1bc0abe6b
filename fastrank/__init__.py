"""fastrank: trec_eval-compatible evaluation of rankings, fast.

>>> import fastrank as fr
>>> qrels, run = fr.read_qrels("data/digits.qrels"), fr.read_run("data/pixels.run")
>>> scores = fr.evaluate(qrels, run, "map P.5,10")
>>> scores.mean["map"]
0.43476959975458557
>>> scores["P_10"][:3].tolist()
[1.0, 1.0, 0.8]
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.approximation import IndexComparison as IndexComparison
    from fastrank.approximation import IndexPoint as IndexPoint
    from fastrank.approximation import compare_indexes as compare_indexes
    from fastrank.array_qrels import ArrayQrels as ArrayQrels
    from fastrank.array_qrels import index_qrels as index_qrels
    from fastrank.arrays import evaluate_arrays as evaluate_arrays
    from fastrank.beyond import MEASURES as MEASURES
    from fastrank.candidates import Candidates as Candidates
    from fastrank.candidates import load_candidates as load_candidates
    from fastrank.checking import check as check
    from fastrank.columns import Preferences as Preferences
    from fastrank.columns import Qrels as Qrels
    from fastrank.columns import Run as Run
    from fastrank.convert.files import load_qrels as load_qrels
    from fastrank.convert.files import load_run as load_run
    from fastrank.convert.files import save_qrels as save_qrels
    from fastrank.convert.files import save_run as save_run
    from fastrank.datasets import Dataset as Dataset
    from fastrank.embeddings import evaluate_embeddings as evaluate_embeddings
    from fastrank.errors import ArrayError as ArrayError
    from fastrank.errors import EvaluationError as EvaluationError
    from fastrank.errors import FastrankError as FastrankError
    from fastrank.errors import FormatError as FormatError
    from fastrank.errors import GroupError as GroupError
    from fastrank.errors import InputError as InputError
    from fastrank.errors import MeasureError as MeasureError
    from fastrank.errors import NoQueriesError as NoQueriesError
    from fastrank.errors import OptionError as OptionError
    from fastrank.errors import ReadError as ReadError
    from fastrank.evaluation import Evaluator as Evaluator
    from fastrank.evaluation import evaluate as evaluate
    from fastrank.groups import macro_mean as macro_mean
    from fastrank.labels import evaluate_labels as evaluate_labels
    from fastrank.likelihood import negative_log_likelihood as negative_log_likelihood
    from fastrank.measures import Measure as Measure
    from fastrank.mining import HardNegatives as HardNegatives
    from fastrank.mining import hard_negatives as hard_negatives
    from fastrank.models import Embeddings as Embeddings
    from fastrank.models import embed_dataset as embed_dataset
    from fastrank.models import evaluate_model as evaluate_model
    from fastrank.native import EngineError as EngineError
    from fastrank.native import engine as engine
    from fastrank.notation import MeasureSpec as MeasureSpec
    from fastrank.notation import parse_measure as parse_measure
    from fastrank.own import Ranking as Ranking
    from fastrank.own import measure as measure
    from fastrank.scores import Scores as Scores
    from fastrank.tables import Table as Table
    from fastrank.tables import table as table
    from fastrank.tie_ranges import TieRange as TieRange
    from fastrank.tie_ranges import TieReport as TieReport
    from fastrank.tie_ranges import tie_report as tie_report
    from fastrank.trec import read_prefs as read_prefs
    from fastrank.trec import read_qrels as read_qrels
    from fastrank.trec import read_qrels_jg as read_qrels_jg
    from fastrank.trec import read_qrels_prefs as read_qrels_prefs
    from fastrank.trec import read_run as read_run
    from fastrank.trec import write_prefs as write_prefs
    from fastrank.trec import write_qrels as write_qrels
    from fastrank.trec import write_run as write_run
    from fastrank.zscores import ZScores as ZScores
    from fastrank.zscores import read_zscores as read_zscores
    from fastrank.zscores import write_zscores as write_zscores

# Public names are imported when they are first used: the trec_eval command pays for what it
# needs, and `import fastrank` for nothing.
_HOMES = {
    "approximation": ("IndexComparison", "IndexPoint", "compare_indexes"),
    "array_qrels": ("ArrayQrels", "index_qrels"),
    "arrays": ("evaluate_arrays",),
    "candidates": ("Candidates", "load_candidates"),
    "checking": ("check",),
    "columns": ("Preferences", "Qrels", "Run"),
    "convert.files": ("load_qrels", "load_run", "save_qrels", "save_run"),
    "datasets": ("Dataset",),
    "embeddings": ("evaluate_embeddings",),
    "errors": (
        "ArrayError",
        "EvaluationError",
        "FastrankError",
        "FormatError",
        "GroupError",
        "InputError",
        "MeasureError",
        "NoQueriesError",
        "OptionError",
        "ReadError",
    ),
    "evaluation": ("Evaluator", "evaluate"),
    "beyond": ("MEASURES",),
    "groups": ("macro_mean",),
    "labels": ("evaluate_labels",),
    "likelihood": ("negative_log_likelihood",),
    "measures": ("Measure",),
    "mining": ("HardNegatives", "hard_negatives"),
    "models": ("Embeddings", "embed_dataset", "evaluate_model"),
    "native": ("EngineError", "engine"),
    "notation": ("MeasureSpec", "parse_measure"),
    "own": ("Ranking", "measure"),
    "scores": ("Scores",),
    "tables": ("Table", "table"),
    "tie_ranges": ("TieRange", "TieReport", "tie_report"),
    "trec": (
        "read_prefs",
        "read_qrels",
        "read_qrels_jg",
        "read_qrels_prefs",
        "read_run",
        "write_prefs",
        "write_qrels",
        "write_run",
    ),
    "zscores": ("ZScores", "read_zscores", "write_zscores"),
}

__all__ = sorted(["__version__", *(name for names in _HOMES.values() for name in names)])


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            value = getattr(import_module(f"fastrank.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'fastrank' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
