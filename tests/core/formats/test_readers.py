"""Readers: text into nouns, by the lexical rules of trec_eval."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.core.formats.trec.line_files import read_clusters
from fastrank.errors import FastrankError, FormatError
from tests.helpers import strategies as make
from tests.helpers.line_formats import (
    ALL,
    JUDGMENTS,
    OF_TREC,
    QRELS,
    QRELS_JG,
    RUN,
    ZSCORES,
    Form,
    in_every_format,
    of_formats,
)
from tests.helpers.parsing import parse_qrels, parse_run
from tests.helpers.strategies import (
    BLANKS,
    NO_BLANKS,
    BrokenLineError,
    contents,
    exactly,
    examples,
    many,
)

NUL = "NUL byte in the line: this is not a text file"
REST_IS_NOT_READ = (
    "<file object>:{}: the line begins with a NUL byte, which ends the file:"
    " {} bytes from here on are not read"
)


def rows_of(form: Form, text: bytes, **options: Any) -> list[tuple[bytes, list[Any]]]:
    """What a reader makes of a text: rows per query."""
    return contents(form.read(io.BytesIO(form.filled(text)), **options))


def refused(form: Form, text: bytes, **options: Any) -> FormatError:
    """The error that a reader makes of a text."""
    with pytest.raises(FormatError) as raised:
        form.read(io.BytesIO(form.filled(text)), **options)
    return raised.value


# Fields and lines


@in_every_format
def test_all_bytes_but_blanks_newline_and_nul_are_text(form):
    """Also what only Unicode or Python takes for white space, and what is no UTF-8."""
    ordinary = bytes(set(range(1, 256)) - set(b"\n#" + BLANKS))
    for query in (ordinary, *(b"q" + text + b"1" for text in NO_BLANKS)):
        assert rows_of(form, form.of(query)) == [(query, [form.row])]


def versions(form: Form, wanted: str) -> list[dict[str, str]]:
    """The options for a version of trec_eval, or for any."""
    if form is ZSCORES:
        return [{}]
    named = [wanted] if wanted != "any" else ["9.0.8", "10.0"]
    return [{"trec_eval_version": own} for own in named] + [{}] * ("9.0.8" in named)


BLANK = (b"", b" ", b"\r", b" \t\v\f\r")
# Formats, version of trec_eval, text, and the queries that have a row each.
MEANT = [
    (ALL, "any", b"LINE\n", b"q1"),
    (ALL, "any", b"LINE\r\nOTHER\r\n", b"q1 q2"),
    (ALL, "any", b"OTHER\nLINE", b"q2 q1"),
    (ALL, "any", b"OTHER\nLINE\r", b"q2 q1"),
    (OF_TREC, "any", b"\xef\xbb\xbfLINE\nOTHER\n", b"q1 q2"),
    *([[RUN], "any", b"LINE\n" + blank + b"\nOTHER\n", b"q1 q2"] for blank in BLANK),
    *([[RUN], "any", text, b""] for text in (b"\n", b" \t\r\n\n", b"\n\n\n", b" ")),
    # A comment in column 0; the line after it is data, as in trec_eval 10.0.
    (JUDGMENTS, "10.0", b"# a\nLINE\n#\nOTHER\n##", b"q1 q2"),
    (JUDGMENTS, "10.0", b"#\nLINE\n# a b c d e f\nOTHER\n#\tx\r\n", b"q1 q2"),
    (JUDGMENTS, "10.0", b"# a\nHASH", b"#"),
    (JUDGMENTS, "10.0", b"# a\nHASH\n# b\nLINE", b"# q1"),
    (JUDGMENTS, "10.0", b" HASH", b"#"),
    (OF_TREC, "10.0", b"# a\n", b""),
    (OF_TREC, "10.0", b"#", b""),
    (OF_TREC, "10.0", b"# \0\nLINE", b"q1"),
    # In runs, comments stand anywhere, however often.
    ([RUN], "10.0", b"#LINE\n \t#\nLINE\n#\r\n\n # a b c d e f\nOTHER\n#", b"q1 q2"),
    # Where a line with # is malformed, all lines that begin with # are comments.
    (OF_TREC, "9.0.8", b"HASH\n#LINE\nLINE", b"# #q1 q1"),
    (OF_TREC, "9.0.8", b"HASH\nLINE\n# a\n# b\nOTHER\n#", b"q1 q2"),
    ([RUN], "9.0.8", b" # a\nLINE", b"q1"),
    # Elsewhere # means nothing.
    (OF_TREC, "any", b"q#LINE", b"q#q1"),
    ([ZSCORES], "any", b"HASH", b"#"),
]


@pytest.mark.filterwarnings("ignore:.* byte order mark")
@pytest.mark.parametrize(("forms", "version", "text", "queries"), MEANT)
def test_what_lines_mean(forms, version, text, queries):
    for form in forms:
        expected = [(query, [form.row]) for query in queries.split()]
        for options in versions(form, version):
            assert rows_of(form, text, **options) == expected, (form.fields, options)


# Formats, version of trec_eval, text, and the line of the error.
REFUSED = [
    (ALL, "any", b"LINE\rLINE\r", 1),
    (ALL, "any", b"LINE\nOTHER\nx", 3),
    (ALL, "any", b"LINE\nOTHER\nx\n", 3),
    (ALL[1:], "any", b"LINE\nLINE more\n", 2),
    (ALL[1:], "any", b"LINE\n\n", 2),
    (ALL[1:], "any", b"\n", 1),
    (ALL[1:], "any", b"LINE\n ", 2),
    ([ZSCORES], "any", b"# comment\nLINE", 1),
    (JUDGMENTS, "10.0", b"LINE\n# a\n# b\n", 3),
    (JUDGMENTS, "10.0", b" # a", 1),
    (JUDGMENTS, "9.0.8", b" # a\nLINE", 1),
    # Comments and blank lines count, and excuse no other malformed line.
    (OF_TREC, "any", b"# a\nLINE\n# b\nOTHER\nbad\n", 5),
    (OF_TREC, "9.0.8", b"# a\nLINE\nbad\n# b\n", 3),
    (OF_TREC, "9.0.8", b"LINE\nbad\n# a\n", 2),
    ([RUN], "any", b"\n \nLINE\n\r\n# a\nbad\n", 6),
    # However much text follows, and though its fields would do for the end of a line.
    ([RUN], "any", b"doc 1 0.5 tag\n" + b"q Q0 doc 1 0.5 tag\n" * 9, 1),
    (ALL, "any", bytes(range(255, -1, -1)) * many(400), 1),
]


@pytest.mark.parametrize(("forms", "version", "text", "line"), REFUSED, ids=range(len(REFUSED)))
def test_malformed_lines_are_found(forms, version, text, line):
    for form in forms:
        for options in versions(form, version):
            assert refused(form, text, **options).line == line, (form.fields, options)


# What a field less may mean.
MISSING = {
    QRELS.fields: "; is the second field (iter) missing? Its value is ignored",
    RUN.fields: "; is the second field (Q0) or the last one (tag) missing? Any word will do",
}


@in_every_format
def test_the_error_says_file_and_line_what_is_expected_and_what_was_found(form, tmp_path):
    """Up to sixty bytes of the line; what is no UTF-8 is replaced, what controls is escaped."""
    path = tmp_path / "file"
    short = form.line.rpartition(b" ")[0]
    shown = {
        short: f"{len(short.split())}: {short.decode()!r}{MISSING.get(form.fields, '')}",
        b"x" * 60: f"1: '{'x' * 60}'",
        b"x" * 61: f"1: '{'x' * 60}...'",
        b"\xff\t\x1b[1m": "2: '\ufffd\\t\\x1b[1m'",
    }
    if form is not RUN:
        for blank in BLANK:
            shown[blank] = f"0: {blank.decode()!r}"
        shown[form.line + b" z"] = f"{len(form.line.split()) + 1}: '{form.line.decode()} z'"
    for line, found in shown.items():
        for end in (b"\n", b"") if line else (b"\n",):
            path.write_bytes(form.filled(b"LINE\n" + line + end))
            with pytest.raises(FormatError) as raised:
                form.read(path)
            reason = f"malformed line: expected {form.expected()}, found {found}"
            error = raised.value
            assert (error.path, error.line, error.reason) == (str(path), 2, reason)
            assert str(error) == f"{path}:2: {reason}"


# NUL bytes


@in_every_format
def test_a_nul_byte_within_a_line_is_refused_before_its_fields_are_counted(form):
    within = [form.line[:place] + b"\0" + form.line[place:] for place in (1, 2, -1)]
    for bad in [*within, b" \0", b"x\0", b"\t\0 a b c d e f", form.line + b" more\0"]:
        error = refused(form, b"LINE\n" + bad + b"\n")
        assert (error.line, error.reason) == (2, NUL)


@of_formats(*OF_TREC)
@pytest.mark.parametrize(
    ("text", "queries", "said"),
    [
        (b"LINE\nOTHER\n\0x\nx\n", [b"q1", b"q2"], REST_IS_NOT_READ.format(3, 5)),
        (b"LINE\n\0", [b"q1"], REST_IS_NOT_READ.format(2, 1)),
        (b"\0x", [], REST_IS_NOT_READ.format(1, 2)),
    ],
)
def test_a_nul_byte_at_the_start_of_a_line_ends_the_file_with_a_warning(form, text, queries, said):
    """As for trec_eval what follows is not read; `warn` gets the message if it is given."""
    content = form.filled(text)
    messages: list[str] = []
    with pytest.warns(UserWarning, match="NUL byte") as warned:
        noun = form.read(io.BytesIO(content))
    assert contents(noun) == [(query, [form.row]) for query in queries]
    assert [str(warning.message) for warning in warned] == [said]
    assert warned[0].filename == __file__
    form.read(io.BytesIO(content), warn=messages.append)
    form.read(io.BytesIO(form.line + b"\n"), warn=messages.append)
    assert messages == [said]


@in_every_format
def test_a_nul_byte_on_standard_input_and_in_zscores_is_refused(form, tmp_path, monkeypatch):
    """Also at the start of a line, where trec_eval 10.0 would join what is around it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(form.line + b"\n\0\n")))
    with pytest.raises(FormatError) as raised:
        form.read("-")
    assert str(raised.value) == f"-:2: {NUL}"
    assert refused(ZSCORES, b"LINE\n\0\n").line == 2


# Size


@in_every_format
def test_lines_and_files_may_be_of_any_length(form):
    size, lines = many(1_000_000), many(20_000)
    query = b"q" * size
    assert rows_of(form, form.of(query)) == [(query, [form.row])]
    assert rows_of(form, form.line.replace(b" ", b" " * (size // 5))) == [(b"q1", [form.row])]
    text = b"".join(form.of(b"q%d" % number) + b"\n" for number in range(lines)) + b"x"
    assert refused(form, text).line == lines + 1


@pytest.mark.parametrize("length", range(1, 24))
def test_lines_of_another_query_are_not_taken_for_those_of_the_one_before(length):
    """Wherever their ids differ; the beginnings of lines are compared in words of 8 bytes."""
    ids = ["a" * length, *("a" * i + "b" + "a" * (length - i - 1) for i in range(length))]
    lines = [f"{query} Q0 d{i} 1 1 t\n" for query in ids for i in range(4)]

    read = parse_run("".join(lines).encode())

    assert list(read.queries) == [query.encode() for query in ids]
    assert np.diff(read.offsets).tolist() == [4] * len(ids)


def test_thousands_of_scattered_queries_and_two_that_alternate():
    """As many as fill a hash table, in random order; as many pieces as lines."""
    chance = random.Random(1)
    queries = [b"%d" % chance.getrandbits(chance.choice([8, 16, 64])) for _ in range(many(5_000))]
    drawn = [chance.choice(queries) for _ in range(many(30_000))]
    for order in (drawn, [b"q%d" % (row % 2) for row in range(many(50_000))]):
        lines = [[query, b"0", b"d%d" % row, b"1"] for row, query in enumerate(order)]
        found = parse_qrels(b"".join(b" ".join(line) + b"\n" for line in lines))
        assert contents(found) == make.grouped(lines, make.QRELS)


# Properties

NOISE = [b"\n", b"\n", b" ", b"\t", b"\r\n", b"#", b"\0", b"q 0 d 1", b"q 0 d 1 1 t"]
noise = st.one_of(
    st.binary(max_size=200),
    st.lists(st.sampled_from(NOISE) | st.binary(max_size=4), max_size=40).map(b"".join),
)
# Ids of few bytes of all kinds, so that hashes meet.
short_queries = st.lists(st.tuples(make.words, make.words, make.docs, make.numbers), max_size=40)


def repeats(lines: list[list[bytes]], form: Form) -> bool:
    """Whether a document comes twice in a judgment group."""
    return form is QRELS_JG and len({tuple(line[:3]) for line in lines}) < len(lines)


@of_formats(*OF_TREC)
@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
def test_any_text_is_read_as_by_the_twin(form, version):
    """It means what split, dictionaries, strtod and atol make of it, or is an error there.

    And strict readers raise nothing but FastrankError.
    """
    rows = make.QRELS_JG_ROWS if form is QRELS_JG else form.rows
    texts = st.one_of(make.lines_of(form.rows), make.untidy(rows), noise)

    @examples(100)
    @given(texts if form is RUN else texts | make.lines_of(short_queries))
    def equal(text: bytes) -> None:
        text = text or b"\n"
        broken: BrokenLineError | None = None
        try:
            lines = make.twin_fields(text, form.layout, version)
        except BrokenLineError as caught:
            broken = caught
        if broken is None and not repeats(lines, form):
            noun = form.parse(text, strict=False, trec_eval_version=version)
            assert exactly(contents(noun)) == exactly(make.grouped(lines, form.layout))
            if form is RUN:
                assert noun.tag_bytes == (lines[-1][5] if lines else b"")
        else:
            with pytest.raises(FormatError) as raised:
                form.parse(text, strict=False, trec_eval_version=version)
            if broken is not None:
                found = "NUL byte" if broken.fields is None else f"found {broken.fields}: "
                assert found in raised.value.reason
                assert raised.value.line == broken.line
            else:
                assert "duplicate document" in raised.value.reason
                assert raised.value.reason.endswith("in a judgment group of its query")
                *before, line = text.split(b"\n")[: raised.value.line]
                assert line.split()[:3] in [own.split()[:3] for own in before]
        with contextlib.suppress(FastrankError):
            contents(form.read(io.BytesIO(text), trec_eval_version=version))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        equal()


@examples(60)
@given(make.lines_of(make.ZSCORES_ROWS).filter(bool))
def test_zscores_are_sorted_by_measure_equal_ones_as_they_stand(text):
    lines = [line.split() for line in text.removesuffix(b"\n").split(b"\n")]
    expected = make.grouped(lines, ZSCORES.layout)
    for _, entries in expected:
        entries.sort(key=lambda entry: entry[0])
    assert exactly(contents(ZSCORES.parse(text))) == exactly(expected)


# Clusters


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"q1 a\nq2\n", 2, "expected 2 fields (query cluster), found 1"),
        (b"q1,a\n", 1, "expected 2 fields (query cluster), found 1"),
        (b"q1 a b\n", 1, "expected 2 fields (query cluster), found 3"),
        (b"q1 a\nq2 a\nq1 b\n", 3, "query 'q1' is already in cluster 'a'"),
    ],
)
def test_a_line_of_clusters_has_a_query_and_its_cluster(content, line, reason):
    found = read_clusters(io.BytesIO(b"\xef\xbb\xbfq1 a\n\nq2\tb\r\nq1 a\nq3 a"))
    assert found == {"q1": "a", "q2": "b", "q3": "a"}
    with pytest.raises(FormatError) as raised:
        read_clusters(io.BytesIO(content))
    assert (raised.value.line, raised.value.reason) == (line, reason)
