"""fastrank: fast, trec_eval-compatible evaluation of rankings.

>>> import fastrank as fr
>>> qrels, run = fr.read_qrels("data/digits.qrels"), fr.read_run("data/pixels.run")
>>> scores = fr.evaluate(qrels, run, "map P.5,10")
>>> scores.mean["map"]
0.43476959975458557
>>> scores["P_10"][:3].tolist()
[1.0, 1.0, 0.8]
"""

from __future__ import annotations

from fastrank.common import lazy
from fastrank.common.lazy import public_names

__version__ = "0.1.0"

lazy.intervals = "fastrank.analysis.comparing.single_system"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank import datasets as datasets
    from fastrank import errors as errors
    from fastrank import searching as searching
    from fastrank import spans as spans
    from fastrank import tasks as tasks
    from fastrank import testing as testing
    from fastrank import types as types
    from fastrank.analysis.checking.checker import check as check
    from fastrank.analysis.comparing.agreement import agreement as agreement
    from fastrank.analysis.comparing.compare import compare as compare
    from fastrank.analysis.comparing.compare import compare_datasets as compare_datasets
    from fastrank.analysis.comparing.compare import compare_scores as compare_scores
    from fastrank.analysis.comparing.overlap import overlap as overlap
    from fastrank.analysis.comparing.overlap import rbo as rbo
    from fastrank.analysis.comparing.power import topics_needed as topics_needed
    from fastrank.analysis.explaining.explain import explain as explain
    from fastrank.analysis.fusion.fuse import fuse as fuse
    from fastrank.analysis.fusion.tuning import tune_fusion as tune_fusion
    from fastrank.analysis.gating.gate import gate as gate
    from fastrank.analysis.gating.gate import save_baseline as save_baseline
    from fastrank.analysis.inspecting.inspect import inspect as inspect
    from fastrank.analysis.judges.agreement import judge_agreement as judge_agreement
    from fastrank.analysis.judges.estimate import estimate as estimate
    from fastrank.analysis.judges.merging import diff_qrels as diff_qrels
    from fastrank.analysis.judges.merging import merge_qrels as merge_qrels
    from fastrank.analysis.judges.merging import unjudged as unjudged
    from fastrank.analysis.judges.plans import plan_judgments as plan_judgments
    from fastrank.analysis.judges.plans import pool as pool
    from fastrank.analysis.judges.plans import read_plan as read_plan
    from fastrank.analysis.spans.evaluate import evaluate_spans as evaluate_spans
    from fastrank.analysis.spans.levels import by_level as by_level
    from fastrank.analysis.spans.qrels import span_qrels as span_qrels
    from fastrank.core.evaluation.arrays import evaluate_arrays as evaluate_arrays
    from fastrank.core.evaluation.evaluator import Evaluator as Evaluator
    from fastrank.core.evaluation.evaluator import evaluate as evaluate
    from fastrank.core.evaluation.labels import evaluate_labels as evaluate_labels
    from fastrank.core.evaluation.likelihood import (
        negative_log_likelihood as negative_log_likelihood,
    )
    from fastrank.core.evaluation.ties import tie_report as tie_report
    from fastrank.core.formats.load import read_qrels as read_qrels
    from fastrank.core.formats.load import read_run as read_run
    from fastrank.core.formats.load import write_qrels as write_qrels
    from fastrank.core.formats.load import write_run as write_run
    from fastrank.core.formats.qrels import Qrels as Qrels
    from fastrank.core.formats.run import Run as Run
    from fastrank.core.formats.tools.candidates import Candidates as Candidates
    from fastrank.core.formats.tools.candidates import read_candidates as read_candidates
    from fastrank.core.matching.array_qrels import index_qrels as index_qrels
    from fastrank.core.measures.custom import measure as measure
    from fastrank.core.measures.families import MEASURES as MEASURES
    from fastrank.core.results.table import Table as Table
    from fastrank.core.scores.groups import mean_over_datasets as mean_over_datasets
    from fastrank.core.scores.scores import Scores as Scores
    from fastrank.core.scores.tables import table as table
    from fastrank.errors import FastrankError as FastrankError
    from fastrank.vectors.datasets.dataset import Dataset as Dataset
    from fastrank.vectors.datasets.text_task import TextTask as TextTask
    from fastrank.vectors.embeddings.evaluation import evaluate_model as evaluate_model
    from fastrank.vectors.embeddings.index_benchmark import compare_indexes as compare_indexes
    from fastrank.vectors.embeddings.judged_search import evaluate_embeddings as evaluate_embeddings
    from fastrank.vectors.embeddings.mining import hard_negatives as hard_negatives
    from fastrank.vectors.embeddings.text_vectors import embed_dataset as embed_dataset
    from fastrank.vectors.searching.runs import search as search
    from fastrank.vectors.tasks.evaluate import evaluate_tasks as evaluate_tasks
    from fastrank.vectors.tasks.task import Task as Task

__getattr__, __dir__ = public_names(__name__)
