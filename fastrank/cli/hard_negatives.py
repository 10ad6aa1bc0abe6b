"""The command `fastrank hard-negatives`: mine training data from a run and judgments."""

from __future__ import annotations

from functools import partial
from inspect import signature

from fastrank.cli.command import Command
from fastrank.cli.flags import METHOD, OUTPUT, given_options
from fastrank.cli.output import write
from fastrank.common.messages import counted
from fastrank.core.formats.load import read_qrels, read_run
from fastrank.core.formats.tables.roles import asked_columns
from fastrank.core.formats.texts.lookup import read_texts
from fastrank.core.formats.texts.text_files import titled_records
from fastrank.vectors.embeddings.mining import HardNegatives, hard_negatives
from fastrank.vectors.embeddings.training_data import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from fastrank.cli.parser import Parser

EPILOG = """\
examples:
  fastrank hard-negatives qrels.txt run.txt --texts corpus.jsonl \\
      --queries queries.jsonl -o train.jsonl.gz
  fastrank hard-negatives qrels.txt run.txt --negatives 5 --skip-top 10 \\
      --relative-margin 0.05 -o train.jsonl
  fastrank hard-negatives qrels.txt run.txt --exclude near-duplicates.txt \\
      --format n-tuple -o ids.jsonl

For each query with a relevant document, the hard negatives are the highest-
ranked results that are not relevant, best first. Without --texts and --queries
the records contain ids instead of texts.

formats:
  dpr       question, question_id, answers, positive_ctxs, negative_ctxs,
            hard_negative_ctxs; a context has title, text, score, passage_id
  triplet   anchor, positive, negative: a record for each pair of a positive and
            a negative
  n-tuple   anchor, positive, negative_1, ..., negative_n: a record for each
            positive of the queries that have all n negatives
  flagembedding
            query, pos, neg: a record for each query, with lists of texts
sentence-transformers trains with triplet and n-tuple, DPR with dpr,
FlagEmbedding with flagembedding.

--texts and --queries may be JSON lines (BEIR, Anserini), TSV (MS MARCO, DPR),
parquet, or TREC documents and topics; dpr has the answers of a file of queries that
contains some, such as DPR's questions. OUT contains one record per line, or a
JSON list if its name ends in .json (which DPR expects); it is compressed if its
name ends in .gz, .bz2, .xz or .zst, and replaced only if everything succeeds. A
summary is printed on standard output, or on standard error if the records go to
standard output.

Exit status: 0 if successful, 1 if a file cannot be read or written, 2 for
invalid options.
"""
# The command has no --trec-eval-version: it mines as `hard_negatives` does by default.
OPTIONS = [
    name
    for name in signature(hard_negatives).parameters
    if name not in ("qrels", "run", "corpus", "trec_eval_version")
]
# Counts to print if they are not 0.
COUNTS = {
    "missing_queries": ("judged query", "judged queries", "missing from the run"),
    "no_relevant_queries": ("judged query", "judged queries", "without a relevant document"),
    "unjudged_queries": ("query of the run", "queries of the run", "without judgments"),
    "excluded": ("document", "documents", "excluded from the rankings"),
}


def _declare(parser: Parser) -> None:
    parser.add_files()
    add = partial(parser.add, group=OUTPUT)
    add("-o, --output OUT", "file to write (default: standard output)", default="-")
    add(
        "--format",
        "layout of the records (default: dpr); see below",
        choices=FORMATS,
        default="dpr",
    )
    parser.add_texts(OUTPUT)
    add("--queries FILE", "query texts")
    parser.add_flags(hard_negatives, OPTIONS, defaults={"negatives": 10}, group=METHOD)


def _run(arguments: argparse.Namespace) -> None:
    warn = arguments.command.warn
    inputs = {
        "qrels": read_qrels(arguments.qrels, warn=warn),
        "run": read_run(arguments.run, warn=warn),
        "corpus": _ids(arguments),
    }
    mined = hard_negatives(**given_options(arguments, hard_negatives) | inputs)
    asked_columns().check()
    output = "-" if arguments.output is None else arguments.output
    count = mined.write(output, arguments.format, **_texts(arguments, mined))
    summary = _summary(mined, count)
    if arguments.output is None:
        warn(summary)
    else:
        write([summary.encode() + b"\n"])


def _ids(arguments: argparse.Namespace) -> list[str] | None:
    """The ids of the corpus, to draw random negatives from."""
    if not arguments.texts or not (arguments.random_negatives or arguments.fill):
        return None
    return [text_id for _, _, text_id, *_ in titled_records(arguments.texts)]


def _texts(arguments: argparse.Namespace, mined: HardNegatives) -> dict[str, Any]:
    """The texts, and answers, of the documents and queries that were mined, and no others."""
    texts: dict[str, Any] = {}
    if arguments.texts:
        ids = {
            doc
            for instance in mined
            for doc in (*instance.positives, *instance.negatives, *instance.random_negatives)
        }
        texts["corpus"] = read_texts(arguments.texts, ids)
    if arguments.queries:
        answers: dict[str, list[str]] = {}
        ids = {instance.query for instance in mined}
        texts["queries"] = read_texts(arguments.queries, ids, answers)
        if arguments.format == "dpr":
            texts["answers"] = answers
    return texts


def _summary(mined: HardNegatives, count: int) -> str:
    counts = mined.counts
    drawn = counts["random_negatives"]
    parts = [
        f"{counted(counts['queries'], 'query', 'queries')},"
        f" {counted(counts['negatives'], 'negative')},"
        f" {counted(drawn, 'random negative') + ', ' if drawn else ''}{counted(count, 'record')}"
    ]
    if counts["too_few"]:
        none, unretrieved = counts["no_negatives"], counts["no_positive_retrieved"]
        why = f", {unretrieved:,} of them because no relevant document was retrieved"
        shown = f" ({none:,} with none{why if unretrieved else ''})" if none else ""
        few = counted(counts["too_few"], "query", "queries")
        parts.append(f"{few} with fewer negatives than requested{shown}")
    parts += [
        f"{counted(counts[name], noun, plural)} {condition}"
        for name, (noun, plural, condition) in COUNTS.items()
        if counts[name]
    ]
    return "; ".join(parts)


COMMAND = Command(
    "fastrank hard-negatives",
    _declare,
    _run,
    usage=("QRELS RUN",),
    epilog=EPILOG,
    kinds={"output": "records"},
)
