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

import os
import sys

# The compiled kernels read memory of objects as CPython lays them out.
if sys.implementation.name != "cpython":
    raise ImportError(f"fastrank needs CPython; this is {sys.implementation.name}")
# Reading files as fast as here needs system calls that Windows does not have.
if not hasattr(os, "preadv"):
    raise ImportError("fastrank needs Linux or macOS 11; on Windows, use it in WSL")

from fastrank import lazy
from fastrank.lazy import public_names

__version__ = "0.1.0"

lazy.conversions = "fastrank.formats.frames"
lazy.intervals = "fastrank.comparing.single_system"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank import errors as errors
    from fastrank import searching as searching
    from fastrank import spans as spans
    from fastrank import tasks as tasks
    from fastrank import testing as testing
    from fastrank import types as types
    from fastrank.checking.checker import check as check
    from fastrank.comparing.agreement import agreement as agreement
    from fastrank.comparing.compare import compare as compare
    from fastrank.comparing.compare import compare_datasets as compare_datasets
    from fastrank.comparing.compare import compare_scores as compare_scores
    from fastrank.comparing.overlap import overlap as overlap
    from fastrank.comparing.overlap import rbo as rbo
    from fastrank.comparing.power import topics_needed as topics_needed
    from fastrank.data.qrels import Qrels as Qrels
    from fastrank.data.run import Run as Run
    from fastrank.datasets.dataset import Dataset as Dataset
    from fastrank.datasets.text_task import TextTask as TextTask
    from fastrank.embeddings.evaluation import evaluate_model as evaluate_model
    from fastrank.embeddings.index_benchmark import compare_indexes as compare_indexes
    from fastrank.embeddings.mining import hard_negatives as hard_negatives
    from fastrank.embeddings.text_vectors import embed_dataset as embed_dataset
    from fastrank.errors import FastrankError as FastrankError
    from fastrank.evaluation.arrays import evaluate_arrays as evaluate_arrays
    from fastrank.evaluation.embeddings import evaluate_embeddings as evaluate_embeddings
    from fastrank.evaluation.evaluator import Evaluator as Evaluator
    from fastrank.evaluation.evaluator import evaluate as evaluate
    from fastrank.evaluation.labels import evaluate_labels as evaluate_labels
    from fastrank.evaluation.likelihood import negative_log_likelihood as negative_log_likelihood
    from fastrank.evaluation.ties import tie_report as tie_report
    from fastrank.explaining.explain import explain as explain
    from fastrank.formats.candidates import Candidates as Candidates
    from fastrank.formats.candidates import read_candidates as read_candidates
    from fastrank.formats.load import read_qrels as read_qrels
    from fastrank.formats.load import read_run as read_run
    from fastrank.formats.load import write_qrels as write_qrels
    from fastrank.formats.load import write_run as write_run
    from fastrank.fusion.fuse import fuse as fuse
    from fastrank.fusion.tuning import tune_fusion as tune_fusion
    from fastrank.gating.gate import gate as gate
    from fastrank.gating.gate import save_baseline as save_baseline
    from fastrank.inspecting.inspect import inspect as inspect
    from fastrank.judges.agreement import judge_agreement as judge_agreement
    from fastrank.judges.estimate import estimate as estimate
    from fastrank.judges.merging import diff_qrels as diff_qrels
    from fastrank.judges.merging import merge_qrels as merge_qrels
    from fastrank.judges.merging import unjudged as unjudged
    from fastrank.judges.plans import plan_judgments as plan_judgments
    from fastrank.judges.plans import pool as pool
    from fastrank.judges.plans import read_plan as read_plan
    from fastrank.judging.array_qrels import index_qrels as index_qrels
    from fastrank.measures.custom import measure as measure
    from fastrank.measures.families import MEASURES as MEASURES
    from fastrank.scores.groups import mean_over_datasets as mean_over_datasets
    from fastrank.scores.scores import Scores as Scores
    from fastrank.scores.tables import Table as Table
    from fastrank.scores.tables import table as table
    from fastrank.searching.runs import search as search
    from fastrank.spans.evaluate import evaluate_spans as evaluate_spans
    from fastrank.spans.levels import by_level as by_level
    from fastrank.spans.qrels import span_qrels as span_qrels
    from fastrank.tasks.evaluate import evaluate_tasks as evaluate_tasks
    from fastrank.tasks.task import Task as Task

__getattr__, __dir__ = public_names(__name__)
