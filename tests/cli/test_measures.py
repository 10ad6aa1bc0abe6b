"""`fastrank measures`: what exists, how it is defined, which options, from where."""

from __future__ import annotations

import io
import json
import sys

import pytest

from fastrank.cli.main import main
from fastrank.measures.families import BY_PLAIN_NAME, FAMILY_BY_NAME, MEASURES


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> object:
    """Run `fastrank measures ARGUMENTS`: exit status, standard output and error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        streams = [io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2)]
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", streams[0])
            patch.setattr(sys, "stderr", streams[1])
            status = main(["measures", *arguments])
        out, err = (stream.buffer.getvalue().decode() for stream in streams)
        return status, out, err

    return run


def test_all_measures_are_listed(command: object) -> None:
    status, out, err = command()

    assert (status, err) == (0, "")
    assert [line.split()[0].partition("(")[0].partition(".")[0].partition("[")[0].partition("@")[0]
            for line in out.splitlines()] == [measure.name for measure in MEASURES]  # fmt: skip


def test_a_name_in_any_notation_is_explained(command: object) -> None:
    status, out, _ = command("hit_ratio_10", "MRR", "P_5")

    assert status == 0
    assert "divided by those at any rank" in out
    assert "Also called MRR, RR_k." in out
    assert "average      'macro' | 'micro' (macro): averaging: over queries, or" in out
    assert "In the sets official, all_trec." in out
    assert "Source: trec_eval P." in out


def test_json_holds_options_with_their_defaults(command: object) -> None:
    _, out, _ = command("--format", "json", "RBP")

    (found,) = json.loads(out)
    assert found["name"] == "RBP"
    assert found["source"] == "Moffat and Zobel, ACM TOIS 27(1), 2008."
    assert {option["name"]: option["default"] for option in found["options"]} == {
        "cutoff": None, "p": 0.8, "rel": None, "judged_only": False, "gain": "binary",
    }  # fmt: skip


def test_json_and_markdown_hold_every_measure(command: object) -> None:
    _, as_json, _ = command("--format", "json")
    _, as_markdown, _ = command("--format", "markdown")

    assert [found["name"] for found in json.loads(as_json)] == [m.name for m in MEASURES]
    assert len(as_markdown.splitlines()) == len(MEASURES) + 2
    counts = {"runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
    assert {found["name"] for found in json.loads(as_json) if not found["source"]} == counts


def test_a_set_stands_for_its_measures(command: object) -> None:
    _, out, _ = command("prefs")

    assert len(out.split("\n\n")) == 8


def test_an_unknown_name_is_told_with_the_closest(command: object) -> None:
    status, out, err = command("nDGC")

    assert (status, out) == (2, "")
    assert "fastrank measures: unknown measure 'nDGC'; did you mean" in err
    assert "nDCG" in err


@pytest.mark.parametrize("name", sorted({*FAMILY_BY_NAME, *BY_PLAIN_NAME}))
def test_every_other_name_is_explained_without_its_parameters(command: object, name: str) -> None:
    """`HitRate` and `hit_ratio` need a rank to be computed, and none to be looked up."""
    status, out, err = command(name)

    assert (status, err) == (0, "")
    assert out


def test_the_list_has_one_column_of_whole_phrases(command: object) -> None:
    _, out, _ = command()

    lines = out.splitlines()
    assert len({len(line) - len(line.split(None, 1)[1]) for line in lines}) == 1
    assert lines[-2].endswith("Share of the first min(k, retrieved) documents that are not judged")
    assert lines[-1].endswith(
        "Number of documents in the first k that are not judged for any query"
    )
    assert all(line.count("(") == line.count(")") for line in lines)


def test_measures_that_differ_in_their_average_are_described_differently(command: object) -> None:
    _, out, _ = command()

    described = dict(line.partition("(")[::2] for line in out.splitlines())
    assert described["MedianRank"].endswith("  Median rank of the first relevant document")
    assert described["FirstRank"].endswith("  Mean rank of the first relevant document")


def test_a_parameter_without_a_default_is_required(command: object) -> None:
    _, out, _ = command("P@10")

    assert "cutoff       rank (required): the rank k: only the first k documents count" in out


@pytest.mark.parametrize("names", [["map,ndcg@10 P_5"], ["map", "ndcg@10,", " P_5 "]])
def test_names_are_separated_by_commas_and_blanks(command: object, names: list[str]) -> None:
    assert command(*names) == command("map", "ndcg@10", "P_5")
    assert command("P.5,10", "nDCG@5,10") == command("P.5", "nDCG@5")
