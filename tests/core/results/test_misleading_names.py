"""Names that would mislead a terminal, or break a file, are escaped in every form of a result."""

import io
from xml.etree import ElementTree

import pytest

import fastrank as fr
from fastrank.errors import FastrankError

# An escape sequence, a line break, and a byte that is not UTF-8.
NAME = "r\x1b[1m\n\udcff"
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 1}, "q3": {"a": 1}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}, "q3": {"a": 1.0}}
TIED = {"q": {"a": 1.0, "b": 1.0}}


def scores():
    return fr.evaluate(QRELS, {NAME: RUN}, "map")[0]


MAKERS = {
    "Scores": scores,
    "ScoreDifferences": lambda: scores() - scores(),
    "Table": lambda: fr.table(fr.evaluate(QRELS, {NAME: RUN}, "map P.5")).transpose(),
    "Comparison": lambda: fr.compare_scores({NAME: RUN["q1"], "b": {"a": 1.0, "b": 2.0}}),
    "Measures": lambda: fr.compare_scores(
        {name: {"q1": {NAME: 1.0}, "q2": {NAME: value}} for name, value in (("x", 1), ("y", 2))}
    ),
    "TieReport": lambda: fr.tie_report(QRELS, {NAME: TIED["q"], **RUN}, "map"),
    "JudgeAgreement": lambda: fr.judge_agreement(QRELS, QRELS, names=[NAME, "b"]),
    "Explanation": lambda: fr.explain({NAME: QRELS["q1"]}, {NAME: RUN["q1"]}, query=NAME),
}


@pytest.fixture(params=MAKERS)
def result(request):
    return MAKERS[request.param]()


def test_text_has_no_characters_that_terminals_obey(result):
    for text in (repr(result), str(result), result.to_markdown(), result.to_html()):
        assert all(line.isprintable() for line in text.split("\n"))


def test_images_are_valid_files(result):
    pytest.importorskip("matplotlib")
    result.plot(path=(image := io.BytesIO()), format="svg")
    assert ElementTree.fromstring(image.getvalue()).tag.endswith("svg")


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "result",
    [
        lambda: fr.table(fr.evaluate(QRELS, {NAME: RUN}, "map")),
        lambda: fr.evaluate({NAME: {"a": 1}}, {NAME: {"a": 1.0}}, "map"),
        lambda: fr.pool({"a": {NAME: {"a": 1.0}}}),
    ],
)
def test_frames_refuse_what_is_not_utf_8(result, library):
    pytest.importorskip(library)
    with pytest.raises(FastrankError, match="the text is not UTF-8, which frames require"):
        getattr(result(), f"to_{library}")()
