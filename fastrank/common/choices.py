"""Types of options that take one of a few words: type checkers and editors know the words.

For annotations, and for the choices of flags on the command line.
"""

from __future__ import annotations

from typing import Literal

TrecEvalVersion = Literal["9.0.8", "10.0"]
"""The version of trec_eval whose numbers are computed."""
RankBy = Literal["score", "rank", "given"]
"""What documents are ranked by: see [Ranking](../options.md#ranking)."""
Ties = Literal["docno_desc", "docno_asc", "given", "best", "worst", "average"]
"""The order of documents with equal scores: see [Ranking](../options.md#ranking)."""
LabelTies = Literal["given", "best", "worst", "average"]
"""The order of documents with equal scores where there are no ids."""
Missing = Literal["skip", "zero", "error"]
"""How judged queries without results are treated: see [Queries](../options.md#queries)."""
NoRelevant = Literal["zero", "one", "skip", "error"]
"""How judged queries without relevant documents are treated: see
[Queries](../options.md#queries)."""
Duplicates = Literal["error", "first", "max"]
"""How a document that appears twice in a ranking is treated: see
[Documents](../options.md#documents)."""
RepeatedTexts = Literal["merge", "keep"]
"""Whether equal texts are one document: see `fastrank.Dataset.from_pairs`."""
AnswerMatch = Literal["string", "regex"]
"""How answers are looked for in a text: see `fastrank.datasets.has_answer`."""
Format = Literal["trec", "sample", "tsv", "csv", "json", "jsonl", "parquet", "arrow", "ltr"]
"""The format of a file of judgments or a run; `sample` is that of NIST's sample_eval."""
JudgmentGroups = Literal["qrels_jg"]
"""trec_eval's format of judgments by several groups."""
PreferenceFormat = Literal["prefs", "qrels_prefs"]
"""trec_eval's formats of preferences."""
Metric = Literal["ip", "l2", "cosine", "dot", "cos", "cosine_similarity", "euclidean"]
"""How vectors are compared: by inner product ("dot"), Euclidean distance, or cosine."""
SameOrCommon = Literal["same", "common"]
"""Whether systems must have the same queries, or their common queries are compared."""
Positives = Literal["mean", "alone", "marginal"]
"""What the loss of a query is the mean of: see `fastrank.negative_log_likelihood`."""
Unretrieved = Literal["ignore", "lowest", "worst"]
"""How relevant documents that were not retrieved count in a loss."""
Margin = Literal["lowest", "highest"]
"""Which positive document a margin of hard negatives refers to."""
RboVariant = Literal["w", "a", "b"]
"""The variant of rank-biased overlap for rankings with ties."""
Test = Literal["t", "randomization", "wilcoxon", "sign", "tukey", "bootstrap"]
"""A test of significance: see [Which test?](../comparing.md#which-test)"""
Correction = Literal["holm", "bonferroni", "bh", "none", "hochberg", "by", "max-t"]
"""A correction for several comparisons: see
[Several comparisons](../comparing.md#several-comparisons)."""
Family = Literal["measure", "all"]
"""The comparisons that are corrected together."""
Interval = Literal["t", "percentile", "bca", "studentized", "none"]
"""A kind of confidence interval: see [Intervals](../comparing.md#intervals)."""
BootstrapInterval = Literal["bca", "percentile"]
"""A kind of bootstrap interval."""
Prefer = Literal["first", "max", "min", "mean", "majority"]
"""The grade of a pair that several judged: see `fastrank.merge_qrels`."""
Conflicts = Literal["resolve", "error"]
"""Whether pairs with different grades are refused."""
UnjudgedBy = Literal["pair", "query", "run"]
"""The rows of a table of unjudged documents: see `fastrank.unjudged`."""
EstimateInterval = Literal["t", "percentile"]
"""A kind of interval of an estimate."""
Population = Literal["all", "queries"]
"""What an estimated mean is of: see `fastrank.estimate`."""
Judges = Literal["linear", "mean", "majority"]
"""How several judges become one: see `fastrank.estimate`."""
PlanBy = Literal["pairs", "queries"]
"""What people judge a sample of: see `fastrank.plan_judgments`."""
Allocation = Literal["neyman", "proportional"]
"""How a budget is divided among strata: see `fastrank.plan_judgments`."""
Zeros = Literal["pratt", "wilcox"]
"""How Wilcoxon's test treats differences of 0."""
Policy = Literal["significant", "drop", "non-inferior"]
"""When a gate fails: see [When a run fails](../gate.md#when-a-run-fails)."""
GateTest = Literal["t", "randomization"]
"""The test of a gate."""
OnFew = Literal["fail", "warn"]
"""What a gate does if there are too few queries."""
FusionMethod = Literal[
    "rrf",
    "combsum",
    "combmnz",
    "convex",
    "borda",
    "isr",
    "rbc",
    "combmax",
    "combmin",
    "combmed",
    "combanz",
    "gmnz",
    "log_isr",
    "logn_isr",
    "wmnz",
    "mixed",
    "condorcet",
]
"""A method of fusion: see [Methods](../fusion.md#methods)."""
OverlapOf = Literal["span", "chunk"]
"""What the overlap of a span and a chunk is a share of: see `fastrank.span_qrels`."""
SpanGrade = Literal["max", "sum", "share"]
"""The grade of a chunk with several spans: see `fastrank.span_qrels`."""
Level = Literal["chunk", "page", "document"]
"""What is ranked: see `fastrank.by_level`."""
