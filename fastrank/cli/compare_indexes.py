"""The command `fastrank compare-indexes`: recall, speed and memory of approximate indexes."""

from __future__ import annotations

from fastrank.cli.command import Command
from fastrank.cli.flags import add_flags, add_measures, add_output, given_options
from fastrank.cli.output import check_distinct
from fastrank.comparing.plots.frame import check_format
from fastrank.embeddings.index_benchmark import MEASURES, ComparisonOptions, compare_indexes
from fastrank.errors import OptionError
from fastrank.keywords import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from fastrank.cli.parser import Parser
    from fastrank.embeddings.index_comparison import IndexComparison

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
OPTIONS = ["k", "metric", "repetitions", *names_of(ComparisonOptions)]
FORMATS: dict[str, Callable[[IndexComparison], str]] = {
    "table": lambda compared: f"{compared}\n",
    "markdown": lambda compared: compared.table().to_markdown() + "\n",
    "latex": lambda compared: compared.table().to_latex() + "\n",
    "csv": lambda compared: compared.table().to_csv(),
    "json": lambda compared: compared.to_json(indent=2) + "\n",
}


def _declare(parser: Parser) -> None:
    add = parser.add_argument
    add("indexes", nargs="+", metavar="INDEX", help="index and search settings; see below")
    add("--corpus", required=True, metavar="FILE", help="document vectors, a .npy file")
    add("--queries", required=True, metavar="FILE", help="query vectors, a .npy file")
    add_flags(parser, compare_indexes, OPTIONS)
    add("--qrels", metavar="FILE", help="qrels in any format; adds measures to the output")
    add_measures(parser, ", ".join(MEASURES))
    add_output(parser, FORMATS, "table")
    add(
        "--plot",
        metavar="FILE",
        help="plot recall against queries per second to a .png, .svg or .pdf file (extra `plot`)",
    )


def _compared(given: argparse.Namespace) -> IndexComparison:
    if given.measure and given.qrels is None:
        raise OptionError("--measure", "requires --qrels")
    check_distinct({"-o": given.output, "--plot": given.plot})
    if given.plot is not None:
        check_format(given.plot)
    compared = compare_indexes(
        given.queries,
        given.corpus,
        given.indexes,
        qrels=given.qrels,
        measures=given.measure or MEASURES,
        **given_options(given, OPTIONS),
    )
    if given.plot is not None:
        compared.plot(given.plot)
    return compared


COMMAND = Command(
    "fastrank compare-indexes",
    _declare,
    _compared,
    usage=("--corpus FILE --queries FILE INDEX [INDEX ...]",),
    epilog=EPILOG,
    writers=FORMATS,
    outputs=("output", "plot"),
)
