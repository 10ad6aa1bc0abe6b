"""The command `fastrank compare-indexes`: recall, speed and memory of approximate indexes."""

from __future__ import annotations

import argparse
import warnings

from fastrank.cli.flags import add_flags, given_options
from fastrank.cli.output import (
    can_be_written,
    check_distinct,
    complain,
    guarded,
    report_error,
    report_unwritable,
    write,
)
from fastrank.cli.output_formats import format_of_output
from fastrank.comparing.plots.image import check_format
from fastrank.embeddings.index_benchmark import MEASURES, ComparisonOptions, compare_indexes
from fastrank.errors import FastrankError, OptionError
from fastrank.formats import files
from fastrank.formats.compression import compressed
from fastrank.judging.keywords import EVALUATION
from fastrank.keywords import select
from fastrank.searching.search_options import SEARCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrank.embeddings.index_comparison import IndexComparison

NAME = "fastrank compare-indexes"
EPILOG = """\
examples:
  fastrank compare-indexes --corpus C.npy --queries Q.npy \\
      "IVF256,Flat nprobe=1 nprobe=8 nprobe=32"
  fastrank compare-indexes --corpus C.npy --queries Q.npy --metric cosine \\
      -k 10 --plot indexes.svg "IVF256,Flat nprobe=8" \\
      "HNSW32,efConstruction=200 efSearch=32 efSearch=128" \\
      "OPQ16,IVF256,PQ16x4fs nprobe=8"
  fastrank compare-indexes --corpus C.npy --queries Q.npy \\
      "HNSW32 efSearch=64" "my/hnsw.index efSearch=64"
  fastrank compare-indexes --corpus C.npy --queries Q.npy \\
      --corpus-ids docs.txt --query-ids queries.txt --qrels qrels.txt \\
      -m nDCG@10 -m RR@10 --format json -o indexes.json SQ8 HNSW32

INDEX is a faiss factory string, optionally followed by search settings: faiss
parameters such as nprobe=8, joined by commas where a setting has several. Each
index is built once and searched with each setting, or with faiss's defaults.
A factory string may end with parameters of the construction: efConstruction of
HNSW (default: 40; hnswlib has 200), and niter, nredo, seed and
max_points_per_centroid of IVF. INDEX with a dot or a slash is the file of an
index of the corpus that was built before. The first row is exact search.

columns:
  recall@k   the share of the exact top k that is found (documents that tie with
             rank k count as found), averaged over queries
  change     difference of a measure from exact search
  queries/s  queries divided by the median time of a pass; indexes take turns
  bytes      size of the index on disk, about the same as in memory
  build s    seconds to train the index and add the vectors; - for a file

Invalid factory strings, unknown parameters and too few training vectors are
reported before any index is built. Output files are written atomically: they
are replaced only if everything succeeds.
"""
SHARED = [
    *(keyword for keyword in SEARCH if keyword.name in ("k", "metric")),
    *select(ComparisonOptions, SEARCH, EVALUATION),
]
FORMATS: dict[str, Callable[[IndexComparison], str]] = {
    "table": lambda compared: f"{compared}\n",
    "markdown": lambda compared: compared.table().to_markdown() + "\n",
    "latex": lambda compared: compared.table().to_latex() + "\n",
    "csv": lambda compared: compared.table().to_csv(),
    "json": lambda compared: compared.to_json(indent=2) + "\n",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.usage = f"{NAME} [options] --corpus FILE --queries FILE INDEX [INDEX ...]"
    parser.epilog = EPILOG
    add = parser.add_argument
    add("indexes", nargs="+", metavar="INDEX", help="index and search settings; see below")
    add("--corpus", required=True, metavar="FILE", help="document vectors, a .npy file")
    add("--queries", required=True, metavar="FILE", help="query vectors, a .npy file")
    add_flags(parser, SHARED, defaults={"k": 100})
    parser.set_defaults(metric="ip")
    add("--qrels", metavar="FILE", help="qrels in any format; adds measures to the output")
    add(
        "-m", "--measure", action="append", default=[], metavar="MEASURE",
        help="measure in any notation, with --qrels; may be repeated (default:"
        f" {', '.join(MEASURES)})",
    )  # fmt: skip
    add("--repetitions", type=int, default=5, metavar="N", help="timed passes (default: 5)")
    add(
        "--format", choices=FORMATS,
        help="output format (default: by the name of the -o file, or table)",
    )  # fmt: skip
    add("-o", "--output", metavar="FILE", help="write to FILE (default: standard output)")
    add(
        "--plot", metavar="FILE",
        help="plot recall against queries per second to a .png, .svg or .pdf file (extra `plot`)",
    )  # fmt: skip


def run(given: argparse.Namespace) -> int:
    """Compare the indexes; returns the exit status."""
    return guarded(NAME, lambda: _run(given))


def _run(given: argparse.Namespace) -> int:
    if not can_be_written(NAME, given.output, given.plot):
        return 1
    try:
        if given.measure and given.qrels is None:
            raise OptionError("--measure", "requires --qrels")
        check_distinct({"-o": given.output, "--plot": given.plot})
        if given.plot is not None:
            check_format(given.plot)
        form = given.format or format_of_output(given.output, FORMATS, "table")
        options = given_options(given, SHARED)
        with warnings.catch_warnings():
            # Each index is evaluated and would repeat the warning.
            warnings.simplefilter("once", UserWarning)
            warnings.showwarning = lambda message, *_: complain(f"{NAME}: {message}")
            compared = compare_indexes(
                given.queries,
                given.corpus,
                given.indexes,
                qrels=given.qrels,
                measures=given.measure or MEASURES,
                repetitions=given.repetitions,
                **options,
            )
    except FastrankError as error:
        return report_error(NAME, error)
    printed = FORMATS[form](compared).encode()
    try:
        if given.plot is not None:
            compared.plot(given.plot)
        if given.output is not None:
            files.write(given.output, compressed([printed], given.output))
    except OSError as error:
        # The error names the file: the output or the plot.
        return report_unwritable(NAME, error.filename, error)
    if given.output is None:
        write([printed])
    return 0
