"""The command `fastrank compare-indexes`: recall, speed and memory of approximate indexes."""

from __future__ import annotations

from functools import partial

from fastrank.cli.command import Command
from fastrank.cli.flags import INPUTS, SEARCH, given_options
from fastrank.common.keywords import names_of
from fastrank.core.measures.selection import DEFAULT_MEASURES
from fastrank.core.results.result import FORMS
from fastrank.errors import OptionError
from fastrank.vectors.embeddings.index_benchmark import ComparisonOptions, compare_indexes
from fastrank.vectors.embeddings.index_comparison import IndexComparison

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser

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


def _declare(parser: Parser) -> None:
    add = partial(parser.add, group=INPUTS)
    parser.add("INDEX ...", "index and search settings; see below", dest="indexes")
    add("--corpus FILE", "document vectors, a .npy file", required=True)
    add("--queries FILE", "query vectors, a .npy file", required=True)
    add("--qrels FILE", "qrels in any format; adds measures to the output")
    parser.add_measures(DEFAULT_MEASURES)
    parser.add_output()
    parser.add_plot()
    parser.add_flags(
        compare_indexes, ["k", "metric", "repetitions", *names_of(ComparisonOptions)], group=SEARCH
    )


def _compared(arguments: argparse.Namespace) -> IndexComparison:
    if arguments.measures and arguments.qrels is None:
        raise OptionError("--measure", "requires --qrels")
    return compare_indexes(**given_options(arguments, compare_indexes))


COMMAND = Command(
    "fastrank compare-indexes",
    _declare,
    _compared,
    usage=("--corpus FILE --queries FILE INDEX [INDEX ...]",),
    epilog=EPILOG,
    formats=FORMS,
    plot=True,
)
