"""The command `fastrank hard-negatives`: training data from a run and judgments."""

from __future__ import annotations

import argparse

from fastrank.cli.flags import add_flags, given_options
from fastrank.cli.output import (
    can_be_written,
    complain,
    guarded,
    report_error,
    report_unwritable,
    write,
)
from fastrank.errors import FastrankError
from fastrank.formats.load import read_qrels, read_run
from fastrank.judging.evaluation_options import EVALUATION
from fastrank.keywords import select
from fastrank.mining.formats import FORMATS
from fastrank.mining.mine import POSITIVES, HardNegatives, MiningOptions, hard_negatives
from fastrank.mining.texts import read_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "fastrank hard-negatives"
EPILOG = """\
examples:
  fastrank hard-negatives qrels.txt run.txt --corpus corpus.jsonl --queries queries.jsonl \\
      -o train.jsonl.gz
  fastrank hard-negatives qrels.txt run.txt --negatives 5 --skip-top 10 --relative-margin 0.05 \\
      -o x.jsonl
  fastrank hard-negatives qrels.txt run.txt --exclude near-duplicates.txt --format n-tuple \\
      -o ids.jsonl

Of each query with a relevant document the best results that are not relevant, best first. Without
texts the records hold ids.

formats:
  dpr       question, question_id, answers, positive_ctxs, negative_ctxs, hard_negative_ctxs; a
            context has title, text, score, passage_id
  triplet   anchor, positive, negative: a line for each positive with each negative
  n-tuple   anchor, positive, negative_1, ..., negative_n: a line for each positive of the queries
            that have all n negatives
The last two are what sentence-transformers trains with.

The texts are JSON lines (BEIR's, Anserini's), TSV (MS MARCO's, DPR's), or TREC's documents and
topics. OUT has a record a line, or one list if its name ends in .json, which DPR's training reads;
names ending in .gz, .bz2, .xz and .zst are compressed. OUT is complete, or is left as it was. What
was mined is counted on standard output, or where the records go there on standard error. The exit
status is 1 if an input is wrong.
"""
# The command has no --trec-eval-version: it mines as `hard_negatives` does by default.
SHARED = [
    keyword for keyword in select(MiningOptions, EVALUATION) if keyword.name != "trec_eval_version"
]
# What is told of counts that are not 0.
COUNTS = {
    "too_few": "queries have fewer negatives than asked for",
    "no_negatives": "of them have none",
    "no_positive_retrieved": "of these because no relevant document was retrieved,"
    " to hold a margin to",
    "missing_queries": "judged queries are missing from the run",
    "no_relevant_queries": "judged queries have no relevant document",
    "unjudged_queries": "queries of the run have no judgments",
    "excluded": "documents were left out of the rankings",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    add = parser.add_argument
    add("qrels", help="file of judgments, of any format; - is standard input")
    add("run", help="file of a run, of any format; may be compressed")
    add("-o", "--output", metavar="OUT", default="-", help="file to write (standard output)")
    add("--negatives", type=int, default=10, metavar="N", help="negatives per query (10)")
    add(
        "--skip-top", type=int, default=0, metavar="N",
        help="pass over the first N ranks, relevant or not (0)",
    )  # fmt: skip
    add("--depth", type=int, metavar="N", help="the last rank that is looked at (all)")
    add(
        "--margin", type=float, metavar="X",
        help="a negative scores at most what the positive does, less X",
    )  # fmt: skip
    add(
        "--relative-margin", type=float, metavar="X",
        help="at most what the positive does, less the share X of its magnitude, such as 0.05",
    )  # fmt: skip
    add(
        "--margin-below", choices=POSITIVES, default="lowest",
        help="which of several retrieved positives the margins are held to (lowest)",
    )  # fmt: skip
    add_flags(parser, SHARED)
    add(
        "--format",
        choices=FORMATS,
        default="dpr",
        help="what the records look like (dpr); see below",
    )
    add("--corpus", metavar="FILE", help="texts of documents")
    add("--queries", metavar="FILE", help="texts of queries")


def run(given: argparse.Namespace) -> int:
    """Mine; returns the exit status."""
    return guarded(NAME, lambda: _run(given))


def _run(given: argparse.Namespace) -> int:
    if not can_be_written(NAME, given.output):
        return 1
    try:
        mined = hard_negatives(
            read_run(given.run, warn=_warn),
            read_qrels(given.qrels, warn=_warn),
            given.negatives,
            skip_top=given.skip_top,
            depth=given.depth,
            margin=given.margin,
            relative_margin=given.relative_margin,
            margin_below=given.margin_below,
            **given_options(given, SHARED),
        )
        count = mined.write(given.output, given.format, **_texts(given, mined))
    except FastrankError as error:
        return report_error(NAME, error)
    except OSError as error:
        return report_unwritable(NAME, given.output, error)
    told = _summary(mined, count)
    if given.output == "-":
        _warn(told)
    else:
        write([told.encode() + b"\n"])
    return 0


def _texts(given: argparse.Namespace, mined: HardNegatives) -> dict[str, Any]:
    """The texts of the ids that were mined: of a large corpus the few that are needed."""
    texts: dict[str, Any] = {}
    if given.corpus:
        wanted = {doc for instance in mined for doc in (*instance.positives, *instance.negatives)}
        texts["corpus"] = read_texts(given.corpus, wanted)
    if given.queries:
        texts["queries"] = read_texts(given.queries, {instance.query for instance in mined})
    return texts


def _summary(mined: HardNegatives, count: int) -> str:
    counts = mined.counts
    told = f"{counts['queries']} queries, {counts['negatives']} negatives, {count} records"
    return told + "".join(
        f"; {counts[name]} {what}" for name, what in COUNTS.items() if counts[name]
    )


def _warn(message: str) -> None:
    complain(f"{NAME}: {message}")
