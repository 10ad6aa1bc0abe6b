"""Readers of the TREC formats.

Every reader takes a path, `-` for standard input, or a binary file object, compressed or not, and
follows trec_eval's lexical rules: fields are separated by blanks (space, tab, VT, FF, CR), only a
newline ends a line, and the lines of a query need not be adjacent. Scores and grades are numbers in
any form that C's strtod parses. A malformed line, and a field that is not a number or is NaN, raise
FormatError with file and line. So do a carriage return within a line, and a run line in which an id
seems to contain a blank: more than six fields, a tag that differs from that of the line before, and
numbers that are not in the columns of rank and score. And so does a run in which rank and score
seem to be exchanged: the rank has a fraction, the score is a whole number, and the score of the
next line is the next whole number. Runs are checked at the first line of each query and at lines
whose tag has another length than that of the line before. A byte order mark is ignored, with a
warning.

With `strict=False` numbers are parsed as in trec_eval, from whatever a field begins with or 0, and
a byte order mark is part of the first query id.

`trec_eval_version="10.0"` reads comments as trec_eval 10.0 does: in runs, lines whose first
character other than a blank is `#`; in judgments, lines with `#` in column 0, except that the line
after such a line is always data. With `"9.0.8"` a `#` is an ordinary character, unless the file
cannot be read otherwise: then all lines that begin with `#` are comments. `warn` is called if bytes
are skipped, and if the last line of a run has another tag than the first.
"""

from __future__ import annotations

from fastrank.common.arguments import (
    DEFAULT_VERSION,
    RANK_BY,
    check_choice,
    check_threads,
    check_version,
)
from fastrank.common.c_numbers import atof
from fastrank.common.messages import malformed, python_warning
from fastrank.core.data.texts import Groups, Texts, interning, spans
from fastrank.core.formats.files.chunks import FileParts, line_reader
from fastrank.core.formats.files.source import BYTE_ORDER_MARK, HEAD, has_bare_return, is_unusual
from fastrank.core.formats.qrels import Preferences, Qrels, split_groups
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import zeros
from fastrank.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

    from fastrank.common.messages import Warn
    from fastrank.core.data.grades import Scale
    from fastrank.core.formats.files.source import SourceFile
    from fastrank.core.formats.run import Run


# Larger files are read in pieces, and in several threads if that is faster.
PIECEWISE_SIZE = 1 << 22
MARKED = "ignored a byte order mark, which trec_eval reads as part of the first query id"
BARE_RETURN = "a carriage return within a line: lines must end with LF or CR LF"


def read_trec_run(
    file: SourceFile,
    *,
    trec_eval_version: str = DEFAULT_VERSION,
    rank_by: str = "score",
    warn: Warn = python_warning,
    threads: int | None = None,
    strict: bool = True,
) -> Run:
    """Read a run from an open file: lines `query Q0 doc rank score tag`.

    Blank lines, fields after the sixth, rank and Q0 are ignored. rank_by: "score"; "rank" to rank
    by the rank column, or "given" by the order of the lines, in which case scores are ignored and
    become minus the rank. threads: the maximum number, by default up to 8 for large files. The
    memory of a large run is reused for the next one when it is no longer needed. Raises ReadError,
    FormatError, OptionError, and InputError for a duplicate rank in a query. Format: trec_eval's
    `trec_results`.
    """
    check_threads(threads)
    check_choice("rank_by", rank_by, RANK_BY)
    comments = check_version(trec_eval_version) != DEFAULT_VERSION
    scored = rank_by == "score"
    piecewise = scored and file.size is not None and file.size >= PIECEWISE_SIZE
    if piecewise and not (strict and is_unusual(file.beginning())):
        # Not above: the trec_eval command judges what is as large without reading it so.
        from fastrank.core.formats.trec.runs import read_run_columns

        parts = FileParts(file, threads)
        run = read_run_columns(file, parts, comments=comments, strict=strict)
        if run is not None:
            if strict:
                note_tags(file.name, file.beginning(), run.tag_bytes, warn)
            return run
    run = parse(
        file.read(),
        file.name,
        "trec_results",
        trec_eval_version=trec_eval_version,
        warn=warn,
        strict=strict,
        scored=scored,
    )
    if scored:
        return run  # type: ignore[no-any-return]
    # Imported here because the trec_eval command does not need them.
    from fastrank.core.formats.tables.to_run import rank_as_given
    from fastrank.core.formats.trec.runs import rank_by_field

    return rank_by_field(run) if rank_by == "rank" else rank_as_given(run)


def note_tags(name: str, text: bytes, last: bytes, warn: Warn) -> None:
    """Note a run whose last line has another tag than the first; those between are not compared.

    text: of the run, or its beginning.
    """
    if text[: text.find(b"\n")].split(None, 6)[5:6] != [last]:
        # Few runs begin with a comment or have several tags.
        from fastrank.core.formats.trec.strict import several_tags

        if note := several_tags(text[:HEAD], last):
            warn(f"{name}: {note}")


def parse(
    text: bytes,
    name: str = "<bytes>",
    form: str = "qrels",
    *,
    trec_eval_version: str = DEFAULT_VERSION,
    warn: Warn = python_warning,
    strict: bool = True,
    scored: bool = True,
) -> Any:
    """Read a run or judgments from their text in one of the FORMATS.

    name: for messages. scored: whether the scores of a run matter.
    """
    text = _strict_text(text, name, warn) if strict else text
    comments = check_version(trec_eval_version) != DEFAULT_VERSION
    scan = _Scan(text, name, form, warn, comments=comments, strict=strict, scored=scored)
    fields = scan.fields()
    if form == "trec_results":
        # Imported late: the trec_eval command mostly judges a run while it is read.
        from fastrank.core.formats.run import Run

        start, length = scan.state.tag, scan.state.tag_size
        tag = bytes(text[start : start + length])
        if strict:
            note_tags(name, text, tag, warn)
        return Run(**fields, tag_bytes=tag, score_column=scan.numbers)
    if form in ("prefs", "qrels_prefs"):
        return Preferences(**fields, level_column=scan.numbers)
    qrels, docs = Qrels(**fields, grade_column=scan.numbers, scale=scan.scale), fields["docs"]
    if form == "qrels_jg":
        _refuse_repeats(qrels)
    elif strict and len(docs) > 1 and len(docs[0]) <= 2:
        # Not above: the trec_eval command does without the module.
        from fastrank.core.formats.trec.strict import refuse_swapped

        refuse_swapped(name, docs, qrels.groups)
    return qrels


def _strict_text(text: bytes, name: str, warn: Warn) -> bytes:
    """A text without a byte order mark; raises FormatError if its lines end with CR alone."""
    if b"\n" not in text and b"\r" in text.rstrip():
        # They would be one line with many fields.
        reason = "the lines end with CR alone, expected LF or CR LF; `tr '\\r' '\\n'` converts them"
        raise FormatError(name, 1, reason)
    if text.startswith(BYTE_ORDER_MARK):
        warn(f"{name}: {MARKED}")
        text = text.removeprefix(BYTE_ORDER_MARK)
    # All lines would be one comment.
    if text.startswith(b"#") and has_bare_return(text.partition(b"\n")[0]):
        raise FormatError(name, 1, BARE_RETURN)
    return text


def _refuse_repeats(qrels: Qrels) -> None:
    """Raise FormatError for a document that is twice in a judgment group."""
    by_group, _ = split_groups(qrels)
    rows = records.TextsByQuery(texts=by_group.docs.columns, offsets=by_group.offset_column)
    earlier = zeros("q", len(by_group.docs))
    if kernels.note_repeats(rows, interning(len(by_group.docs)), earlier):
        repeat = next(row for row, first in enumerate(earlier) if first >= 0)
        doc = by_group.docs[repeat].decode("utf-8", "replace")
        reason = f"duplicate document {doc!r} in a judgment group of its query"
        raise FormatError(qrels.source, by_group.docs.line(repeat), reason)


# Formats by trec_eval's name: the fields of a line, which of them are texts, and the one that is a
# number.
FORMATS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "trec_results": ("at least 6 fields (query Q0 doc rank score tag)", ("docs",), "score"),
    "qrels": ("4 fields (query iter doc grade)", ("groups", "docs"), "grade"),
    "qrels_jg": ("4 fields (query group doc grade)", ("groups", "docs"), "grade"),
    "prefs": (
        "5 fields (query group subgroup doc level)",
        ("groups", "subgroups", "docs"),
        "level",
    ),
    "qrels_prefs": ("4 fields (query group doc level)", ("groups", "subgroups", "docs"), "level"),
}


class _Scan:
    """The text of a file, the columns that a kernel fills, and the errors in it.

    scored: whether the numbers matter. scale: what the grades stand for, if one has a fraction.
    """

    def __init__(
        self,
        text: bytes,
        name: str,
        form: str,
        warn: Warn,
        *,
        comments: bool,
        strict: bool,
        scored: bool,
    ) -> None:
        self._text, self._name, self._form, self._strict = text, name, form, strict
        self._comments, self._warn, self._scored = comments, warn, scored
        self._expected, texts, self._number = FORMATS[form]
        self.scale: Scale | None = None

        lines, graded = kernels.count_lines(text), self._number == "grade"
        self._texts = {name: spans(lines) for name in texts}
        self.numbers = zeros("q" if graded else "d", lines)
        self._fallback_places = zeros("q", 3 * lines if strict or not graded else 0)
        self._stretches = records.Stretches(*spans(lines), rows=zeros("q", lines + 1))
        self.state = records.Reading()

    def _run_kernel(self, comments: int) -> None:
        """Scan the text with comments of some kind, and fill the columns."""
        self.state.clear(refused=codes.STRICTLY if self._strict and self._scored else codes.AS_C)
        texts, rest = self._texts, (self._fallback_places, self._stretches)
        if self._number == "score":
            reader = line_reader(self._text, records.Cursor(checked=self._strict))
            fields = records.ResultFields(**texts, scores=spans(codes.CHUNK))
            kernels.scan_run(reader, comments, fields, self.numbers, *rest, self.state)
            return
        bounds = zeros("q", codes.BOUNDS)
        if self._number == "grade":
            lines = records.QrelsLines(**texts, grades=self.numbers)
            kernels.scan_qrels(self._text, comments, lines, *rest, bounds, self.state)
            return
        from fastrank.core.native.records.rankings import PreferenceLines

        count = 5 if self._form == "prefs" else 4
        levels = PreferenceLines(**texts, levels=self.numbers)
        kernels.scan_preferences(self._text, comments, count, levels, *rest, bounds, self.state)

    def fields(self) -> dict[str, Any]:
        """Fields of the noun: queries, their row ranges, documents, other texts, and the source.

        All and the numbers are by query. Raises FormatError.
        """
        self._run_kernel(codes.SINGLE_COMMENTS if self._comments else codes.NO_COMMENTS)
        if self.state.status in (codes.MALFORMED, codes.MISPLACED):
            line = self._line()
            if self._form == "trec_results":
                line = line.lstrip()
            if line.startswith(b"#") and not self._comments:
                self._run_kernel(codes.ALL_COMMENTS)
        if not self._strict:
            self._check()
            for row, text in self._fallbacks():
                self.numbers[row] = atof(text)
        elif self.state.status != codes.DONE or self.state.fallbacks:
            self._read_strictly()
        stretches = self.state.stretches
        starts, lengths, first_rows = (column[:stretches] for column in self._stretches)
        groups = Groups(Texts(self._text, starts, lengths), first_rows, self.state.rows)
        self.numbers = groups.reorder(self.numbers)
        texts = {
            name: Texts(self._text, *groups.reorder(columns))
            for name, columns in self._texts.items()
        }
        return {
            **texts,
            "queries": groups.queries,
            "offset_column": groups.offsets,
            "source": self._name,
        }

    def _fallbacks(self) -> Iterator[tuple[int, bytes]]:
        """Row and text of every number that is left to us."""
        for i in range(self.state.fallbacks):
            row, start, length = self._fallback_places[3 * i : 3 * i + 3]
            yield row, bytes(self._text[start : start + length])

    def _read_strictly(self) -> None:
        """Read the numbers that are left to us. Raises FormatError, also for a malformed line."""
        # The trec_eval command does without the module.
        from fastrank.core.formats.trec.explained import explained

        try:
            if self._scored:
                self._read_numbers()
            self._check()
        except FormatError as error:
            kind = {"trec_results": "run", "qrels": "qrels"}.get(self._form)
            fields = self.state.fields
            raise explained(error, self._text, kind, fields) if kind else error from None

    def _read_numbers(self) -> None:
        from fastrank.core.formats.trec.strict import grades_with, number_of, without_score

        def fail(row: int, reason: str) -> NoReturn:
            line = self._text.count(b"\n", 0, self._texts["docs"].starts[row]) + 1
            raise FormatError(self._name, line, reason)

        if self._number == "grade":
            grades = self.numbers[: self.state.rows]
            self.numbers, self.scale = grades_with(grades, list(self._fallbacks()), fail)
            return
        for row, text in self._fallbacks():
            try:
                self.numbers[row] = number_of(text, self._number)
            except ValueError as error:
                reason = str(error)
                if self._number == "score":
                    reason = without_score(self._line(self._texts["docs"].starts[row]), reason)
                fail(row, reason)

    def _line(self, position: int | None = None) -> bytes:
        """The line around a position in the text, by default the one at which scanning ended."""
        start = self.state.at if position is None else self._text.rfind(b"\n", 0, position) + 1
        end = self._text.find(b"\n", start)
        return bytes(self._text[start : end if end >= 0 else len(self._text)])

    def _check(self) -> None:
        status, start = self.state.status, self.state.at
        if status == codes.DONE:
            return
        number = self._text.count(b"\n", 0, start) + 1
        if status == codes.NUL_IN_LINE or (status == codes.NUL_AT_LINE_START and self._name == "-"):
            reason = "NUL byte in the line: this is not a text file"
            raise FormatError(self._name, number, reason)
        is_malformed = status == codes.MALFORMED and self._strict
        if status == codes.BARE_RETURN or (is_malformed and has_bare_return(self._line())):
            raise FormatError(self._name, number, BARE_RETURN)
        if status == codes.MALFORMED:
            reason = malformed(self._expected, self.state.fields, self._line())
            raise FormatError(self._name, number, reason)
        if status == codes.MISPLACED:
            # The trec_eval command does without the module.
            from fastrank.core.formats.trec.strict import misplaced

            raise FormatError(self._name, number, misplaced(self._line()))
        # A NUL at the start of a line ends the file, as in trec_eval, but not in silence. On
        # standard input trec_eval 10.0 would join what is around it: that is refused.
        self._warn(
            f"{self._name}:{number}: the line begins with a NUL byte, which ends the file:"
            f" {len(self._text) - start} bytes from here on are not read"
        )
