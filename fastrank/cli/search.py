"""The command `fastrank search`: search embeddings and write a run."""

from __future__ import annotations

from fastrank.cli.command import Command
from fastrank.cli.flags import given_options
from fastrank.cli.search_flags import ONE_CORPUS, SearchInputs, add_search_options
from fastrank.formats import files
from fastrank.formats.tables import tag_of
from fastrank.messages import counted
from fastrank.scores.text import NOTED
from fastrank.searching.batches import search_batches
from fastrank.searching.indexing import Index
from fastrank.searching.runs import SOURCE, check_writable, run_lines
from fastrank.searching.search_options import SearchOptions
from fastrank.searching.shards import Shards

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from fastrank.cli.parser import Parser
    from fastrank.searching.batches import Found

EPILOG = """\
examples:
  fastrank search --corpus docs.npy --queries queries.npy -k 100 -o run.txt.gz
  fastrank search --corpus docs.npy --corpus-ids docs.txt \\
      --queries queries.npy --query-ids queries.txt --metric cosine -o run.txt
  fastrank search --corpus docs.npy --index-factory IVF1024,Flat \\
      --save-index docs.index --queries queries.npy --parameters nprobe=32 \\
      -o run.txt
  fastrank search --index docs.index --queries queries.npy -o run.txt
  fastrank search --shard docs0.npy --shard docs1.npy --jobs 2 \\
      --queries queries.npy -o run.txt

Documents with equal scores are ranked by id in descending order, as in
trec_eval. The run is written atomically: FILE is replaced only if everything
succeeds.

Exit status: 0 if successful, 1 if a file cannot be read or written, 2 for
invalid options.
"""


def _declare(parser: Parser) -> None:
    add_search_options(parser)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="write the run to FILE in TREC format, compressed if the name ends in .gz, .bz2, .xz"
        " or .zst; - is standard output",
    )


def _run(given: argparse.Namespace) -> int:
    cuts: list[int] = []

    def watched(batches: Iterator[Found]) -> Iterator[Found]:
        for found in batches:
            cuts.append(int(found.ties_at_cutoff.sum()))
            yield found

    options = given_options(given, SearchOptions)
    tag = tag_of(given.tag, SOURCE)
    with SearchInputs(given) as sides:
        check_writable(given.output, sides.documents, sides.names, tag)
        sides.indexed()
        has_ids = isinstance(sides.corpus, (Index, Shards))
        batches = search_batches(
            sides.queries,
            sides.corpus,
            given.k,
            corpus_ids=None if has_ids else sides.documents,
            **{**options, "query_ids": sides.names},
        )
        lines = run_lines(watched(batches), tag)
        files.write_compressed(given.output, lines)
    if sum(cuts):
        given.command.warn(counted(sum(cuts), *NOTED["ties_at_cutoff"]))
    return 0


COMMAND = Command(
    "fastrank search",
    _declare,
    _run,
    epilog=EPILOG,
    outputs=(),
    usage=(f"{ONE_CORPUS} --queries FILE -o FILE",),
)
