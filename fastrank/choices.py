"""Types of options that take one of a few words: type checkers and editors know the words.

Only for annotations; nothing here is imported when a program runs.
"""

from __future__ import annotations

from typing import Literal

TrecEvalVersion = Literal["9.0.8", "10.0"]
RankBy = Literal["score", "rank", "given"]
Ties = Literal["docno_desc", "docno_asc", "given", "best", "worst", "average"]
LabelTies = Literal["given", "best", "worst", "average"]
Missing = Literal["skip", "zero", "error"]
NoRelevant = Literal["zero", "one", "skip", "error"]
Duplicates = Literal["error", "first", "max"]
Format = Literal["trec", "csv", "tsv", "json", "jsonl", "parquet", "sample"]
Metric = Literal["ip", "l2", "cosine"]
SameOrCommon = Literal["same", "common"]
SameOrDifferent = Literal["same", "different"]
Positives = Literal["mean", "alone", "marginal"]
Unretrieved = Literal["ignore", "lowest", "worst"]
Margin = Literal["lowest", "highest"]
RboTies = Literal["w", "a", "b"]
Test = Literal["t", "randomization", "wilcoxon", "sign", "tukey", "tukey-anova", "bootstrap"]
Correction = Literal["holm", "bonferroni", "bh", "none", "hochberg", "by", "max-t"]
Family = Literal["measure", "all"]
Interval = Literal["t", "percentile", "bca", "studentized", "none"]
Zeros = Literal["pratt", "wilcox"]
Policy = Literal["significant", "drop", "non-inferior"]
GateTest = Literal["t", "randomization"]
OnFew = Literal["fail", "warn"]
FusionMethod = Literal[
    "rrf", "combsum", "combmnz", "convex", "borda", "isr", "rbc", "combmax", "combmin", "combmed",
    "combanz", "gmnz", "log_isr", "logn_isr", "wmnz", "mixed", "condorcet",
]  # fmt: skip
