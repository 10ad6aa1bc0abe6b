"""Readers and writers of the TREC formats.

Every reader takes a path, `-` for standard input, or a binary file object, compressed or not, and
follows trec_eval's lexical rules: fields are separated by blanks (space, tab, VT, FF, CR), only a
newline ends a line, and the lines of a query need not be adjacent. Scores and grades are numbers in
any form that C's strtod parses. A malformed line, and a field that is not a number or is NaN, raise
FormatError with file and line. So do a carriage return within a line, and a run line in which an id
seems to contain a blank: more than six fields, a tag that differs from that of the line before, and
numbers that are not in the columns of rank and score. And so does a run in which rank and score
seem to be exchanged: the rank has a fraction, the score is a whole number, and the score of the
next line is the next whole number. Runs are checked at the first line of each query and at lines
whose tag has another length than that of the line before. A byte order mark is ignored.

With `strict=False` numbers are parsed as in trec_eval, from whatever a field begins with or 0, and
a byte order mark is part of the first query id.

`trec_eval_version="10.0"` reads comments as trec_eval 10.0 does: in runs, lines whose first
character other than a blank is `#`; in judgments, lines with `#` in column 0, except that the line
after such a line is always data. With `"9.0.8"` a `#` is an ordinary character, unless the file
cannot be read otherwise: then all lines that begin with `#` are comments. `warn` is called if bytes
are skipped.
"""

from __future__ import annotations

import sys

from fastrank.arguments import DEFAULT_VERSION, RANK_BY, check_choice, check_threads, check_version
from fastrank.c_numbers import atof
from fastrank.data.grouping import Groups, split_groups
from fastrank.data.preferences import Preferences
from fastrank.data.qrels import Qrels
from fastrank.data.run import Run
from fastrank.data.texts import Texts, interning, spans
from fastrank.errors import FormatError
from fastrank.formats.chunks import Parts, line_reader
from fastrank.formats.source import (
    BYTE_ORDER_MARK,
    HEAD,
    Pieces,
    has_bare_return,
    is_unusual,
    name_of,
    open_pieces,
    read_all,
)
from fastrank.native import codes, kernels, records
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn

    from fastrank.data.grade_scale import Scale
    from fastrank.formats.source import Source

    Warn = Callable[[str], None]
    """What is called with a warning; by default, it becomes a Python warning."""

# Larger files are read in pieces, and in several threads if that is faster.
PIECEWISE_SIZE = 1 << 22
RUN_LINE = "at least 6 fields (query Q0 doc rank score tag)"
QRELS_LINE = "4 fields (query iter doc grade)"
QRELS_JG_LINE = "4 fields (query group doc grade)"
PREFS_LINE = "5 fields (query group subgroup doc level)"
QRELS_PREFS_LINE = "4 fields (query group doc level)"
BARE_RETURN = "a carriage return within a line: lines must end with LF or CR LF"


def python_warning(message: str) -> None:
    """Issue a Python warning about skipped bytes, at the line that called the reader."""
    import warnings

    depth, package = 1, __name__.partition(".")[0]
    while sys._getframe(depth).f_globals.get("__name__", "").partition(".")[0] == package:
        depth += 1
    warnings.warn(message, stacklevel=depth + 1)


def read_trec_run(
    source: Source | Pieces,
    *,
    trec_eval_version: str = DEFAULT_VERSION,
    rank_by: str = "score",
    warn: Warn = python_warning,
    threads: int | None = None,
) -> Run:
    """Read a run: lines `query Q0 doc rank score tag`.

    Blank lines, fields after the sixth, rank and Q0 are ignored. rank_by: "score"; "rank" to rank
    by the rank column, or "given" by the order of the lines, in which case scores are ignored and
    become minus the rank. threads: the maximum number, by default up to 8 for large files. The
    memory of a large run is reused for the next one when it is no longer needed. Raises ReadError,
    FormatError, OptionError, and InputError for a duplicate rank in a query. Format: trec_eval's
    `trec_results`.

    >>> import io
    >>> run = fr.read_trec_run(io.BytesIO(b"q1 Q0 d1 1 0.75 bm25\\nq1 Q0 d2 2 0.5 bm25\\n"))
    >>> run.to_dict(), run.tag
    ({'q1': {'d1': 0.75, 'd2': 0.5}}, 'bm25')
    >>> fr.read_trec_run("data/pixels.run")
    <Run data/pixels.run: 200 queries, 20000 rows>
    """
    check_threads(threads)
    if rank_by != "score":
        # Imported here because the trec_eval command does not need it.
        from fastrank.formats import run_order

        check_choice("rank_by", rank_by, RANK_BY)
        with source if isinstance(source, Pieces) else open_pieces(source) as file:
            run = parse_run(
                file.read(), file.name, trec_eval_version=trec_eval_version, warn=warn, scored=False
            )
        return run_order.rank_by_field(run) if rank_by == "rank" else run_order.rank_as_given(run)
    with source if isinstance(source, Pieces) else open_pieces(source) as file:
        return read_pieces(file, trec_eval_version=trec_eval_version, warn=warn, threads=threads)


def read_pieces(
    file: Pieces,
    *,
    trec_eval_version: str,
    warn: Warn,
    threads: int | None = None,
    strict: bool = True,
) -> Run:
    """Read a run from an open file."""
    comments = check_version(trec_eval_version) != DEFAULT_VERSION
    piecewise = file.size is not None and file.size >= PIECEWISE_SIZE
    if piecewise and not (strict and is_unusual(_head(file))):
        # Not above: the trec_eval command judges what is as large without reading it so.
        from fastrank.formats.run_columns import read_run_columns

        parts = Parts(file, threads)
        run = read_run_columns(file, parts, comments=comments, strict=strict)
        if run is not None:
            return run
    return parse_run(
        file.read(), file.name, trec_eval_version=trec_eval_version, warn=warn, strict=strict
    )


def _head(file: Pieces) -> bytes:
    """The first bytes of a file that can be read again."""
    head = bytearray(min(file.size or 0, HEAD))
    file.part(0, len(head)).readinto(head)
    return bytes(head)


def parse_run(
    text: bytes,
    name: str = "<bytes>",
    *,
    trec_eval_version: str = DEFAULT_VERSION,
    warn: Warn = python_warning,
    strict: bool = True,
    scored: bool = True,
) -> Run:
    """Read a run from its text; `name` is for messages. scored: whether the scores matter."""

    def scan(scanner: _Scanner, comments: int) -> None:
        cursor = zeros("q", codes.CURSOR_SIZE)
        cursor[codes.CHECKED] = strict
        fields = records.ResultFields(docs=scanner.docs, scores=spans(codes.CHUNK))
        kernels.scan_run(
            line_reader(text, cursor), comments, fields, scanner.numbers, scanner.fallbacks,
            scanner.stretches, scanner.state,
        )  # fmt: skip

    text = _strict_text(text, name) if strict else text
    columns = {"docs", "numbers"}
    scanner = _Scanner(text, name, RUN_LINE, columns, strict=strict, counted=scored)
    return _run_of(scanner.run(scan, trec_eval_version, warn, indented=True))


def _run_of(found: _Scanner) -> Run:
    queries, offsets, docs, scores = found.grouped(found.docs, found.numbers)
    start, length = found.state[codes.TAG_START], found.state[codes.TAG_LENGTH]
    return Run(
        queries=queries,
        docs=Texts(found.text, *docs),
        tag_bytes=bytes(found.text[start : start + length]),
        source=found.name,
        offset_column=offsets,
        score_column=scores,
    )


def read_trec_qrels(
    source: Source, *, trec_eval_version: str = DEFAULT_VERSION, warn: Warn = python_warning
) -> Qrels:
    """Read judgments: lines `query iter doc grade`. The grade may have a fraction.

    Raises ReadError, FormatError. Format: trec_eval's `qrels`.

    >>> import io
    >>> fr.read_trec_qrels(io.BytesIO(b"q1 0 d1 1\\nq1 0 d2 0\\n")).to_dict()
    {'q1': {'d1': 1, 'd2': 0}}
    >>> fr.read_trec_qrels(io.BytesIO(b"q1 0 d1\\n"))
    Traceback (most recent call last):
    fastrank.errors.FormatError: <file object>:1: malformed line: expected 4 fields ...
    """
    return parse_qrels(
        read_all(source), name_of(source), trec_eval_version=trec_eval_version, warn=warn
    )


def parse_qrels(
    text: bytes,
    name: str = "<bytes>",
    *,
    trec_eval_version: str = DEFAULT_VERSION,
    warn: Warn = python_warning,
    expected: str = QRELS_LINE,
    strict: bool = True,
) -> Qrels:
    """Read judgments from their text; `name` is for messages."""
    text = _strict_text(text, name) if strict else text

    def scan(scanner: _Scanner, comments: int) -> None:
        lines = records.QrelsLines(groups=scanner.groups, docs=scanner.docs, grades=scanner.numbers)
        kernels.scan_qrels(
            text, comments, lines, scanner.fallbacks, scanner.stretches, scanner.bounds,
            scanner.state,
        )  # fmt: skip

    scanner = _Scanner(text, name, expected, {"docs", "groups", "grades"}, strict=strict)
    found = scanner.run(scan, trec_eval_version, warn)
    queries, offsets, *texts, grades = found.grouped(found.docs, found.groups, found.numbers)
    docs, groups = (Texts(text, *own) for own in texts)
    if strict and expected == QRELS_LINE and len(docs) > 1 and len(docs[0]) <= 2:
        # Not above: the trec_eval command does without the module.
        from fastrank.formats.strict import refuse_swapped

        refuse_swapped(name, docs, groups)
    return Qrels(
        queries=queries,
        docs=docs,
        groups=groups,
        source=name,
        grade_column=grades,
        offset_column=offsets,
        scale=found.scale,
    )


def read_qrels_jg(
    source: Source, *, trec_eval_version: str = DEFAULT_VERSION, warn: Warn = python_warning
) -> Qrels:
    """Read judgments whose second field names the judgment group: `query group doc grade`.

    A document twice in a group raises FormatError. Format: trec_eval's `qrels_jg`.

    >>> import io
    >>> lines = b"q1 ann d1 1\\nq1 ann d2 0\\nq1 bob d1 0\\nq1 bob d2 1\\n"
    >>> qrels = fr.read_qrels_jg(io.BytesIO(lines))
    >>> fr.evaluate(qrels, {"q1": {"d1": 0.75, "d2": 0.5}}, "map_avgjg").mean
    {'map_avgjg': 0.75}
    """
    name = name_of(source)
    return parse_qrels_jg(read_all(source), name, trec_eval_version=trec_eval_version, warn=warn)


def parse_qrels_jg(
    text: bytes,
    name: str = "<bytes>",
    *,
    trec_eval_version: str = DEFAULT_VERSION,
    warn: Warn = python_warning,
    strict: bool = True,
) -> Qrels:
    """Read judgments with groups from their text."""
    qrels = parse_qrels(
        text,
        name,
        trec_eval_version=trec_eval_version,
        warn=warn,
        expected=QRELS_JG_LINE,
        strict=strict,
    )
    by_group, _ = split_groups(qrels)
    rows = records.TextsByQuery(texts=by_group.docs.columns, offsets=by_group.offset_column)
    repeat = kernels.find_repeat(rows, interning(len(by_group.docs)))
    if repeat >= 0:
        doc = by_group.docs[repeat].decode("utf-8", "replace")
        reason = f"duplicate document {doc!r} in a judgment group of its query"
        raise FormatError(name, by_group.docs.line(repeat), reason)
    return qrels


def read_prefs(
    source: Source, *, trec_eval_version: str = DEFAULT_VERSION, warn: Warn = python_warning
) -> Preferences:
    """Read preferences: lines `query group subgroup doc level`, a higher level preferred.

    Raises ReadError, FormatError. Format: trec_eval's `prefs`.

    >>> import io
    >>> preferences = fr.read_prefs(io.BytesIO(b"q1 ann 0 d1 2\\nq1 ann 0 d2 1\\n"))
    >>> list(preferences.groups), preferences.levels.tolist()
    ([b'ann', b'ann'], [2.0, 1.0])
    """
    return parse_prefs(
        read_all(source), name_of(source), trec_eval_version=trec_eval_version, warn=warn
    )


def read_qrels_prefs(
    source: Source, *, trec_eval_version: str = DEFAULT_VERSION, warn: Warn = python_warning
) -> Preferences:
    """Read preferences in the layout of qrels: lines `query group doc level`.

    Raises ReadError, FormatError. Format: trec_eval's `qrels_prefs`.

    >>> import io
    >>> preferences = fr.read_qrels_prefs(io.BytesIO(b"q1 ann d1 2\\nq1 ann d2 1\\n"))
    >>> fr.evaluate(preferences, {"q1": {"d1": 0.75, "d2": 0.5}}, "prefs_simp").mean
    {'prefs_simp': 1.0}
    """
    return parse_qrels_prefs(
        read_all(source), name_of(source), trec_eval_version=trec_eval_version, warn=warn
    )


def parse_prefs(
    text: bytes,
    name: str = "<bytes>",
    *,
    trec_eval_version: str = DEFAULT_VERSION,
    warn: Warn = python_warning,
    subgroups: bool = True,
    strict: bool = True,
) -> Preferences:
    """Read preferences from their text, with or without the field for subgroups."""
    from fastrank.native.records.preferences import PreferenceLines

    text = _strict_text(text, name) if strict else text
    expected = PREFS_LINE if subgroups else QRELS_PREFS_LINE

    def scan(scanner: _Scanner, comments: int) -> None:
        lines = PreferenceLines(
            groups=scanner.groups, subgroups=scanner.subgroups, docs=scanner.docs,
            levels=scanner.numbers,
        )  # fmt: skip
        kernels.scan_preferences(
            text, comments, 5 if subgroups else 4, lines, scanner.fallbacks, scanner.stretches,
            scanner.bounds, scanner.state,
        )  # fmt: skip

    wanted = {"docs", "groups", "subgroups", "numbers"}
    found = _Scanner(text, name, expected, wanted, strict=strict).run(scan, trec_eval_version, warn)
    queries, offsets, docs, groups, subs, levels = found.grouped(
        found.docs, found.groups, found.subgroups, found.numbers
    )
    return Preferences(
        queries=queries,
        groups=Texts(text, *groups),
        subgroups=Texts(text, *subs),
        docs=Texts(text, *docs),
        source=name,
        level_column=levels,
        offset_column=offsets,
    )


def _strict_text(text: bytes, name: str) -> bytes:
    """A text without a byte order mark; raises FormatError if its lines end with CR alone."""
    if b"\n" not in text and b"\r" in text.rstrip():
        # They would be one line with many fields.
        reason = "the lines end with CR alone, expected LF or CR LF; `tr '\\r' '\\n'` converts them"
        raise FormatError(name, 1, reason)
    text = text.removeprefix(BYTE_ORDER_MARK)
    # All lines would be one comment.
    if text.startswith(b"#") and has_bare_return(text.partition(b"\n")[0]):
        raise FormatError(name, 1, BARE_RETURN)
    return text


def parse_qrels_prefs(
    text: bytes,
    name: str = "<bytes>",
    *,
    trec_eval_version: str = DEFAULT_VERSION,
    warn: Warn = python_warning,
    strict: bool = True,
) -> Preferences:
    """Read preferences in the layout of qrels from their text."""
    return parse_prefs(
        text, name, trec_eval_version=trec_eval_version, warn=warn, subgroups=False, strict=strict
    )


class _Scanner:
    """The columns that a scan kernel fills, and what is done with them afterwards.

    counted: whether the numbers matter. scale: what the grades stand for, if one has a fraction.
    """

    def __init__(
        self,
        text: bytes,
        name: str,
        expected: str,
        columns: set[str],
        *,
        strict: bool,
        counted: bool = True,
    ) -> None:
        lines = kernels.count_lines(text)
        self.text, self.name, self.expected = text, name, expected
        self.strict, self._counted = strict, counted
        self.scale: Scale | None = None
        self._of_grades = "grades" in columns
        may_fall_back = "numbers" in columns or (self._of_grades and strict)

        self.docs = spans(lines if "docs" in columns else 0)
        self.groups = spans(lines if "groups" in columns else 0)
        self.subgroups = spans(lines if "subgroups" in columns else 0)
        self.numbers = zeros("q" if self._of_grades else "d", lines)
        self.fallbacks = zeros("q", 3 * lines if may_fall_back else 0)
        self.stretches = records.Stretches(*spans(lines), rows=zeros("q", lines + 1))
        self.bounds = zeros("q", 12)
        self.state = zeros("q", codes.STATE_SIZE)
        self._begin()

    def _begin(self) -> None:
        for i in range(codes.STATE_SIZE):
            self.state[i] = 0
        self.state[codes.REFUSED] = codes.STRICTLY if self.strict and self._counted else codes.AS_C

    def run(
        self,
        scan: Callable[[_Scanner, int], None],
        trec_eval_version: str,
        warn: Warn,
        *,
        indented: bool = False,
    ) -> _Scanner:
        """Scan with the comments of a version; raise FormatError for what is malformed."""
        has_comments = check_version(trec_eval_version) != DEFAULT_VERSION
        scan(self, codes.SINGLE_COMMENTS if has_comments else codes.NO_COMMENTS)
        if self.state[codes.STATUS] in (codes.MALFORMED, codes.MISPLACED) and not has_comments:
            line = self._line()
            if (line.lstrip() if indented else line).startswith(b"#"):
                self._begin()
                scan(self, codes.ALL_COMMENTS)
        if self.strict:
            self._read_strictly(warn)
        else:
            self._check(warn)
            for row, text in self._fallbacks():
                self.numbers[row] = atof(text)
        return self

    def _fallbacks(self) -> Iterator[tuple[int, bytes]]:
        """Row and text of every number that is left to us."""
        for i in range(self.state[codes.FALLBACKS]):
            row, start, length = self.fallbacks[3 * i : 3 * i + 3]
            yield row, bytes(self.text[start : start + length])

    def _read_strictly(self, warn: Warn) -> None:
        """Read the numbers that are left to us. Raises FormatError, also for a malformed line."""
        if self.state[codes.STATUS] == codes.DONE and not self.state[codes.FALLBACKS]:
            return
        # The trec_eval command does without the module.
        from fastrank.formats.strict import explained

        try:
            if self._counted:
                self._read_numbers()
            self._check(warn)
        except FormatError as error:
            kind = {RUN_LINE: "run", QRELS_LINE: "qrels"}.get(self.expected)
            fields = self.state[codes.FIELDS_FOUND]
            raise explained(error, self.text, kind, fields) if kind else error from None

    def _read_numbers(self) -> None:
        from fastrank.formats.strict import grades_with, number_of, without_score

        def fail(row: int, reason: str) -> NoReturn:
            line = self.text.count(b"\n", 0, self.docs.starts[row]) + 1
            raise FormatError(self.name, line, reason)

        if self._of_grades:
            grades = self.numbers[: self.state[codes.ROWS]]
            self.numbers, self.scale = grades_with(grades, list(self._fallbacks()), fail)
            return
        what = "score" if self.expected == RUN_LINE else "level"
        for row, text in self._fallbacks():
            try:
                self.numbers[row] = number_of(text, what)
            except ValueError as error:
                reason = str(error)
                if what == "score":
                    reason = without_score(self._line(self.docs.starts[row]), reason)
                fail(row, reason)

    def _line(self, place: int | None = None) -> bytes:
        """The line with a place of the text, by default that at which scanning ended."""
        start = self.state[codes.AT] if place is None else self.text.rfind(b"\n", 0, place) + 1
        end = self.text.find(b"\n", start)
        return bytes(self.text[start : end if end >= 0 else len(self.text)])

    def _check(self, warn: Warn) -> None:
        status, start = self.state[codes.STATUS], self.state[codes.AT]
        if status == codes.DONE:
            return
        number = self.text.count(b"\n", 0, start) + 1
        if status == codes.NUL_IN_LINE or (status == codes.NUL_AT_LINE_START and self.name == "-"):
            reason = "NUL byte in the line: this is not a text file"
            raise FormatError(self.name, number, reason)
        is_malformed = status == codes.MALFORMED and self.strict
        if status == codes.BARE_RETURN or (is_malformed and has_bare_return(self._line())):
            raise FormatError(self.name, number, BARE_RETURN)
        if status == codes.MALFORMED:
            reason = malformed(self.expected, self.state[codes.FIELDS_FOUND], self._line())
            raise FormatError(self.name, number, reason)
        if status == codes.MISPLACED:
            # The trec_eval command does without the module.
            from fastrank.formats.strict import misplaced

            raise FormatError(self.name, number, misplaced(self._line()))
        # A NUL at the start of a line ends the file, as in trec_eval, but not in silence. On
        # standard input trec_eval 10.0 would join what is around it: that is refused.
        warn(
            f"{self.name}:{number}: the line begins with a NUL byte, which ends the file:"
            f" {len(self.text) - start} bytes from here on are not read"
        )

    def grouped(self, *columns: Any) -> tuple[Any, ...]:
        """Queries, their row ranges, and the columns with each query's rows together."""
        stretches = self.state[codes.STRETCHES]
        starts, lengths, first_rows = (column[:stretches] for column in self.stretches)
        groups = Groups(Texts(self.text, starts, lengths), first_rows, self.state[codes.ROWS])
        return groups.queries, groups.offsets, *map(groups.reorder, columns)


def malformed(expected: str, found: int, line: bytes) -> str:
    """Why a line is malformed, with its beginning."""
    shown = line[:60].decode("utf-8", "replace") + ("..." if len(line) > 60 else "")
    return f"malformed line: expected {expected}, found {found}: {shown!r}"
