"""Read and write judgments and runs in files of any format.

The formats are in formats.py. Of judgments, trec_eval's others are read, too: `qrels_jg`, `prefs`
and `qrels_prefs`. JSON and JSON lines may also have records of questions (DPR's results, whose
`has_answer` are judgments, KILT, HotpotQA and BRIGHT, see tools/question_files.py), and the ratings
and responses of search engines (tools/search_engines.py). Files compressed with gzip, bzip2, xz or
zstd are decompressed; written files are compressed if their name ends in .gz, .bz2, .xz or .zst.
"""

from __future__ import annotations

from typing import overload

from fastrank.common.arguments import DEFAULT_VERSION, RANK_BY, check_choice
from fastrank.common.faces import by_face
from fastrank.common.messages import counted, python_warning, visible
from fastrank.core.data.texts import decoded
from fastrank.core.formats.contents import kind_of_json
from fastrank.core.formats.files import files
from fastrank.core.formats.formats import (
    FORMATS,
    SUFFIXES,
    check_format,
    content_of,
    format_by_name,
    format_of,
)
from fastrank.core.formats.qrels import Preferences, Qrels
from fastrank.core.formats.run import Run
from fastrank.core.formats.tables import sniff
from fastrank.core.formats.tables.arrow_files import is_folder, saved_table
from fastrank.core.formats.tables.reading import binary_table
from fastrank.core.formats.tables.roles import kind_of_names
from fastrank.core.formats.tables.table import Table
from fastrank.core.formats.tables.to_qrels import qrels_from_dict, qrels_of
from fastrank.core.formats.tables.to_run import run_from_dict, run_of
from fastrank.core.formats.tables.values import tag_of
from fastrank.core.formats.trec import reader as trec
from fastrank.core.formats.trec import writers as trec_writers
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from fastrank.common.choices import (
        Format,
        JudgmentGroups,
        PreferenceFormat,
        RankBy,
        TrecEvalVersion,
    )
    from fastrank.common.messages import Warn
    from fastrank.core.formats.files.source import Source, SourceFile


# trec_eval's formats of judgments that cannot be told from the content.
GROUPED = ("qrels_jg", "prefs", "qrels_prefs")
# Formats whose fields have a fixed order.
OF_LINES = ("trec", "sample", "ltr")


@overload
def read_qrels(
    source: Source | SourceFile,
    format: Format | JudgmentGroups | None = None,
    *,
    columns: Mapping[str, Any] | None = None,
    trec_eval_version: TrecEvalVersion = DEFAULT_VERSION,
    warn: Warn = python_warning,
) -> Qrels: ...


@overload
def read_qrels(
    source: Source | SourceFile,
    format: PreferenceFormat,
    *,
    trec_eval_version: TrecEvalVersion = DEFAULT_VERSION,
    warn: Warn = python_warning,
) -> Preferences: ...


def read_qrels(
    source: Source | SourceFile,
    format: str | None = None,
    *,
    columns: Mapping[str, Any] | None = None,
    trec_eval_version: TrecEvalVersion = DEFAULT_VERSION,
    warn: Warn = python_warning,
) -> Qrels | Preferences:
    """Read judgments in any format from a path, a URL, `-` (standard input) or a binary file.

    source: `irds:` and the id of a dataset is accepted, as in `irds:msmarco-passage/dev/small`:
    the judgments of the package ir_datasets, which downloads them if needed. format: trec, csv,
    tsv, json, jsonl, parquet, arrow, ltr or sample, by default detected from the content: see
    [Files we read](../files.md). `sample` is the format of NIST's sample_eval: lines `query iter
    doc stratum grade`, with a negative grade for documents of the pool that were not sampled. Or
    one of trec_eval's other formats: qrels_jg, lines `query group doc grade` of several judgment
    groups; prefs, lines `query group subgroup doc level`, a higher level preferred, and
    qrels_prefs, lines `query group doc level`, which are read into `Preferences`. columns: the
    names of the columns by role (query, doc, grade, iteration, stratum), or their numbers from 0 in
    a file without a header; needed only for unusual names. Rows without a grade and queries without
    judgments are left out, with a warning. Raises ReadError, FormatError and
    InputError, and ImportError if a library is missing: pyarrow for parquet, or that of a URL or a
    dataset.

    >>> import io
    >>> fr.read_qrels(io.BytesIO(b"query-id\\tcorpus-id\\tscore\\nq1\\td1\\t1\\n")).to_dict()
    {'q1': {'d1': 1}}
    >>> fr.read_qrels("data/digits.qrels")
    <Qrels data/digits.qrels: 200 queries, 37,428 rows>
    >>> lines = b"q1 ann d1 1\\nq1 ann d2 0\\nq1 bob d1 0\\nq1 bob d2 1\\n"
    >>> qrels = fr.read_qrels(io.BytesIO(lines), "qrels_jg")
    >>> fr.evaluate(qrels, {"q1": {"d1": 0.75, "d2": 0.5}}, "map_avgjg").mean
    {'map_avgjg': 0.75}
    >>> preferences = fr.read_qrels(io.BytesIO(b"q1 ann 0 d1 2\\nq1 ann 0 d2 1\\n"), "prefs")
    >>> list(preferences.groups), preferences.levels.tolist()
    ([b'ann', b'ann'], [2.0, 1.0])
    """
    if is_dataset(source):
        from fastrank.core.formats.tables.frames import dataset_table

        return qrels_of(dataset_table(str(source)), warn=warn)
    if is_folder(source):
        return qrels_of(saved_table(source), columns, warn=warn)
    file, form = _open(source, format, "qrels", columns)
    with file:
        if form == "trec" or form in GROUPED:
            return trec.parse(  # type: ignore[no-any-return]
                file.read(),
                file.name,
                "qrels" if form == "trec" else form,
                trec_eval_version=trec_eval_version,
                warn=warn,
            )
        found = content_of(_content(file, form), file.name, form, "qrels", columns, warn=warn)
        if not isinstance(found, Table):
            return qrels_from_dict(found, source=file.name, warn=warn)
        qrels = qrels_of(found, columns, warn=warn)
        file.check_unchanged()
        return qrels


def read_run(
    source: Source | SourceFile,
    format: Format | None = None,
    *,
    columns: Mapping[str, Any] | None = None,
    tag: str | None = None,
    rank_by: RankBy = "score",
    trec_eval_version: TrecEvalVersion = DEFAULT_VERSION,
    warn: Warn = python_warning,
    threads: int | None = None,
) -> Run:
    """Read a run in any format from a path, a URL, `-` (standard input) or a binary file.

    format, columns: as in `read_qrels`, with the roles query, doc, score, rank and tag. tag: the
    run's name, instead of the one in the file. rank_by: "score"; "rank" to replace scores by minus
    the rank, which is the default without scores; "given" for the order of the lines. threads: the
    maximum number for a large TREC file, by default up to 8. Raises what `read_qrels` raises.

    >>> import io
    >>> fr.read_run(io.BytesIO(b'{"q1": {"d1": 0.5, "d2": 0.75}}'), tag="bm25").to_dict()
    {'q1': {'d1': 0.5, 'd2': 0.75}}
    >>> fr.read_run(io.BytesIO(b"q1\\td7\\t1\\nq1\\td3\\t2\\n")).to_dict()
    {'q1': {'d7': -1.0, 'd3': -2.0}}
    >>> lines = b"q1 Q0 d7 1 0.5 bm25\\nq1 Q0 d3 2 0.75 bm25\\n"
    >>> fr.read_run(io.BytesIO(lines), rank_by="rank").to_dict()
    {'q1': {'d7': -1.0, 'd3': -2.0}}
    """
    check_choice("rank_by", rank_by, RANK_BY)
    if is_folder(source):
        return run_of(saved_table(source), columns, tag=tag, rank_by=rank_by, warn=warn)
    file, form = _open(source, format, "run", columns)
    with file:
        if form == "trec":
            run = trec.read_trec_run(
                file,
                trec_eval_version=trec_eval_version,
                rank_by=rank_by,
                warn=warn,
                threads=threads,
            )
            if tag is not None:
                run = run.changed(tag_bytes=tag_of(tag, run.source))
            return run
        found = content_of(_content(file, form), file.name, form, "run", columns, rank_by, warn)
        if not isinstance(found, Table):
            return run_from_dict(found, tag=tag, rank_by=rank_by, source=file.name)
        run = run_of(found, columns, tag=tag, rank_by=rank_by, warn=warn)
        file.check_unchanged()
        return run


def _content(file: SourceFile, form: str) -> Any:
    """The content of a file; of one in parquet the path, if its columns can be read alone."""
    return file.path if FORMATS[form].is_binary and file.path is not None else file.read()


def is_dataset(source: object) -> bool:
    """Whether this is the id of a dataset of ir_datasets: `irds:` and its name."""
    return isinstance(source, str) and source.startswith("irds:")


def write_qrels(
    qrels: Qrels | Preferences, path: Source, format: Format | PreferenceFormat | None = None
) -> None:
    """Write judgments so that reading the file restores them.

    format: as in `read_qrels`, by default from the suffix of the path; `sample` instead of `trec`
    if the judgments have strata. JSON drops iterations and strata. Preferences are written as
    prefs, or as qrels_prefs if they have no subgroups. The file is written atomically. Raises
    InputError for content that the format cannot represent.

    >>> import io
    >>> file = io.BytesIO()
    >>> fr.write_qrels(fr.Qrels.from_dict({"q1": {"d1": 1}}), file, "csv")
    >>> file.getvalue().splitlines()
    [b'query_id,doc_id,relevance', b'q1,d1,1']
    """
    if isinstance(qrels, Preferences):
        own = "prefs" if any(qrels.subgroups) else "qrels_prefs"
        if format not in (None, own):
            raise InputError(qrels.source, f"format: expected {own} for these, found {format!r}")
        files.write_compressed(path, trec_writers.lines_of(qrels))
    else:
        _save(qrels, Qrels, path, format)


def write_run(
    run: Run, path: Source, format: Format | None = None, *, warn: Warn = python_warning
) -> None:
    """Write a run so that reading the file restores it.

    format: as in `read_qrels`, by default from the suffix of the path. JSON drops the tag; TREC
    format needs one and uses `-` by default. Only JSON keeps queries without results; warn is
    called with a note on those dropped, by default a Python warning. The file is written
    atomically. Raises InputError for content that the format cannot represent.

    >>> import io
    >>> file = io.BytesIO()
    >>> fr.write_run(fr.Run.from_dict({"q1": {"d1": 0.5}}), file, "jsonl")
    >>> print(file.getvalue().decode(), end="")
    {"query_id": "q1", "doc_id": "d1", "score": 0.5}
    """
    _save(run, Run, path, format)
    warn_of_dropped(run, format or format_by_name(files.name_of(path)), warn)


def warn_of_dropped(run: Run, form: str | None, warn: Warn) -> None:
    """Note the queries without results, which only JSON has."""
    offsets = run.offset_column
    empty = [query for row, query in enumerate(run.queries) if offsets[row] == offsets[row + 1]]
    for note in dropped_notes(empty if form != "json" else ()):
        warn(note)


def dropped_notes(queries: Sequence[bytes]) -> list[str]:
    """A note on queries without results that a file does not have, if there are any."""
    if not queries:
        return []
    number = counted(len(queries), "query", "queries")
    first = visible(decoded(queries[0]))
    return [f"{number} without results dropped, such as '{first}'; only json can represent them"]


def find_kind(source: Source | SourceFile, format: str | None) -> tuple[SourceFile, str | None]:
    """Open the source, and detect whether it contains `qrels` or a `run` (None if uncertain)."""
    file, head = sniff.head_of(source)
    form = format or format_of(head, file.name, "qrels")
    # Lines of learning to rank may have as many fields as those of a run.
    if format in (None, "trec") and form != "ltr":
        fields = len((sniff.first_line(head) or b"").split())
        for kind, fits in sniff.TREC_FIELDS.items():
            if format_of(head, file.name, kind) == "trec" and fields in fits:
                return file, kind
    check_format(form)
    if len(FORMATS[form].kinds) > 1 and format is None:
        form = format_of(head, file.name, "run")
    if len(FORMATS[form].kinds) == 1:
        return file, FORMATS[form].kinds[0]
    if form not in ("json", "jsonl") and not FORMATS[form].is_binary:
        return file, kind_of_names(sniff.names_in(head, form))
    content = file.read()
    file = file if file.rereadable else sniff.in_memory(content, file.name)
    if form in ("json", "jsonl"):
        return file, kind_of_json(content, file.name, form)
    return file, kind_of_names(binary_table(content, file.name, form).names)


def _open(
    source: Source | SourceFile, format: str | None, kind: str, columns: Mapping[str, Any] | None
) -> tuple[SourceFile, str]:
    if format is not None:
        check_format(format, *(GROUPED if kind == "qrels" else ()))
        file, _ = sniff.head_of(source)
        if format in (*OF_LINES, *GROUPED) and columns is not None:
            file.close()
            raise InputError(file.name, "columns: the fields of TREC's format have a fixed order")
        return file, format
    file, head = sniff.head_of(source)
    form = format_of(head, file.name, kind)
    if form in OF_LINES and columns is not None:
        form = "tsv" if b"\t" in head.partition(b"\n")[0] else "csv"
    return file, form


def _save(noun: Qrels | Run, expected: type, path: Source, format: str | None) -> None:
    trec_writers.check_kind(noun, expected)
    files.write_compressed(path, file_of(noun, path, format))


def file_of(noun: Qrels | Run, path: Source, format: str | None) -> Iterable[bytes]:
    """The uncompressed content that `write_qrels` and `write_run` write. Raises InputError."""
    name = files.name_of(path)
    form = format or format_by_name(name)
    if form is None:
        known = ", ".join(SUFFIXES)
        reason = f"unknown format; set {by_face('format=', '--format')}"
        raise InputError(name, f"{reason}, or use a name ending in {known}")
    check_format(form)
    if format is None and form == "trec" and getattr(noun, "strata", None) is not None:
        form = "sample"
    write = FORMATS[form].write
    if write is None:
        raise InputError(name, f"the format {form} is only read")
    return write(noun)
