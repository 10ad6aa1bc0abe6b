"""A comparison as plain text, CSV, JSON and frames: letters, differences, alignment, options."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.common.rendering.document import Cell, Document, Grid
from fastrank.common.rendering.numbers import p_text  # noqa: F401 (in a table)
from fastrank.common.rendering.text import (
    display_width,
    encodes_marks,  # noqa: F401 (in a table)
    text,
)
from tests.helpers.comparisons import DATA, NAMES, compare_data, compared, random_rows, scores_of
from tests.helpers.strategies import examples
from tests.helpers.tables import giving


def test_superscripts_are_the_letters_of_the_systems_that_are_significantly_worse():
    assert compare_data().to_text(ascii=False) == (
        "    system         map      P_10    recip_rank    ndcg_cut_10\n"
        "--  --------  --------  --------  ------------  -------------\n"
        "a   pixels    0.4348ᵇᶜ  0.9510ᵇᶜ       0.9851ᵇ       0.6634ᵇᶜ\n"
        "b   pca       0.3493    0.8050         0.9134        0.5064\n"
        "c   profile   0.3447    0.8985ᵇ        0.9719ᵇ       0.6074ᵇ\n"
        "\n"
        "200 queries. Letters: significantly better than that system (p ≤ 0.05, paired t-test,\n"
        "Holm-corrected for the 3 pairs of a measure)."
    )


def test_with_baselines_each_measure_has_a_table_of_differences():
    blocks = compare_data(baseline=["pca", "profile"]).to_text(ascii=True).split("\n\n")

    assert blocks[2] == (
        "system      recip_rank  baseline           diff [95% interval]       p     +/=/-\n"
        "--------  ------------  ----------  --------------------------  ------  --------  --\n"
        "pixels          0.9851  pca         +0.0717 [+0.0382, +0.1051]  0.0001  24/173/3  +\n"
        "pixels          0.9851  profile     +0.0132 [-0.0057, +0.0322]  0.1701   8/190/2\n"
        "pca             0.9134\n"
        "profile         0.9719  pca         +0.0584 [+0.0249, +0.0919]  0.0014  22/173/5  +"
    )
    assert len(blocks) == 5


FIRST, SECOND = scores_of(random_rows(2, 12)).values()
LEGEND = fr.compare_scores({"a<=b": FIRST, "c": SECOND}, baseline=0).to_text(ascii=False)
RANKS = {
    "a": {f"q{i}": {"FirstRank": 1.0 + i % 2} for i in range(20)},
    "b": {f"q{i}": {"FirstRank": 5.0 + i % 3} for i in range(20)},
}
PERCENT = compare_data().to_text(percent=True, ascii=True)
SORTED = compare_data().to_text(sort="P_10", digits=2, ascii=True).splitlines()


ONE_SYSTEM = fr.compare_scores({"pixels": {f"q{i}": i / 10 for i in range(10)}})
LETTERED = compare_data().to_text(letters=True, ascii=True).splitlines()
RUNS = [DATA / f"{name}.run" for name in NAMES]
OPTIONS = {"relevance_level": 2, "missing": "skip", "exclude": False, "trec_eval_version": "9.0.8"}
RUNS_COMPARED = fr.compare(DATA / "digits.qrels", RUNS, "map", relevance_level=2)
IN_TENS = {"clusters": {f"q{place:03d}": place // 3 for place in range(30)}}
IN_TENS |= {"test": "randomization", "interval": "none"}


def settings_of(found: fr.types.Comparison) -> dict[str, Any]:
    """What JSON has as the settings."""
    record: dict[str, Any] = json.loads(found.to_json())["settings"]
    return record


def with_a_better_one(systems: int) -> str:
    """The line of the first of so many systems, which is better than all others."""
    rows = random_rows(systems, 60)
    rows[0] += 3
    return compared(rows).to_text(ascii=False).splitlines()[2]


# A letter without superscript is in ASCII; letters after z are separated.
test_marks_digits_letters_and_p_values = giving("""
[line[-1] for line in compare_data(baseline="pixels").to_text(ascii=False).splitlines()[3:5]]
    => ["▼", "▼"]
compare_scores(RANKS).to_text(ascii=True).splitlines()[2:4]
    => ["a   a            1.5000^b", "b   b            5.9500"]
"a   pixels    43.48^bc  95.10^bc" in PERCENT => True
"200 queries. Values in percent." in PERCENT => True
SORTED[2] => "a   pixels    0.43^bc  0.95^bc        0.99^c        0.66^bc"
SORTED[3] => "b   profile   0.34     0.90^c         0.97^c        0.61^c"
SORTED[4] => "c   pca       0.35     0.81           0.91          0.51"
with_a_better_one(18).partition("^")[2] => "bcdefghijklmnopqr"
with_a_better_one(28)[-12:] => ",x,y,z,aa,ab"
"diff: difference from a<=b," in LEGEND => True
encodes_marks(io.StringIO()) => True
[p_text(p) for p in (0.0, 1e-20, 0.00012, 0.5)] => ["<1e-300", "1.0e-20", "0.0001", "0.5000"]
json.loads(compared([[0.5], [0.25]]).to_json())["pairs"][0]["p"] => None
ONE_SYSTEM.to_text().splitlines()[0] => "system      value      95% interval"
ONE_SYSTEM.to_text().splitlines()[2] => "pixels     0.4500  [0.2334, 0.6666]"
[line.split()[1].partition("^")[2] for line in LETTERED[2:5]]
    => [*compare_data().letters("map").values()]
"Systems that share a letter do not differ significantly" in " ".join(LETTERED) => True
OPTIONS.items() <= settings_of(RUNS_COMPARED).items() => True
settings_of(compared(random_rows(2, 30), **IN_TENS))["clusters"] => 10
""")


def test_marks_are_in_ascii_if_standard_output_cannot_encode_others(monkeypatch):
    found = compare_data(baseline="pca")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "latin-1"))

    assert str(found).isascii()


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"]))


@given(st.lists(st.tuples(names, names), min_size=1, max_size=5), st.booleans())
@examples(60)
def test_columns_are_aligned(cells, right):
    rows = [[Cell(one, number=right), Cell(other), Cell("|")] for one, other in cells]

    lines = text(Document([Grid(["n", "m", ""], rows)])).splitlines()

    assert len({display_width(line) for line in lines[2:]}) == 1


@given(st.integers(2, 6), st.integers(0, 1000), st.integers(0, 6))
@examples(50)
def test_numbers_end_in_the_same_column(systems, seed, digits):
    rows = random_rows(systems, 12, seed) * 10.0 ** np.arange(systems)[:, None]

    lines = compared(rows).to_text(digits=digits, ascii=True).splitlines()

    assert len({len(line.split("^")[0].rstrip()) for line in lines[2 : 2 + systems]}) == 1


def test_csv_per_query_is_in_long_form():
    found = compare_data()

    rows = list(csv.reader(io.StringIO(found.to_csv(per_query=True))))

    assert rows[0] == ["query", "measure", "system", "value"]
    assert rows[2] == ["q0000", "map", "pca", repr(float(found.values("map")[1, 0]))]
    assert len(rows) == 1 + 4 * 200 * 3


SETTINGS = {"test": "randomization", "correction": "holm", "alpha": 0.05, "interval": "t"}
SETTINGS |= {"level": 0.95, "seed": 0, "resamples": 1000, "family": "measure", "exact": False}
SETTINGS |= {"clusters": None, "version": fr.__version__}


def test_json_has_means_pairs_settings_notes_and_values():
    compared = compare_data(baseline="pca", test="randomization", resamples=1000)

    found = json.loads(compared.to_json(per_query=True))

    low, high = compared.interval_of("map", "pca")
    assert found["schema"] == "fastrank.comparison/1"
    assert found["measures"] == compared.measures
    mean = compared.mean["map"]["pca"]
    assert found["systems"]["pca"]["map"] == {"mean": mean, "low": low, "high": high}
    pair = compared.pair("map", "pixels", "pca")._replace(df=None)
    assert fr.types.Pair(**found["pairs"][0]) == pair
    assert found["notes"] == compared.notes
    assert found["settings"] == SETTINGS
    assert found.pop("per_query")["q0001"]["P_10"]["pca"] == compared.values("P_10")[1, 1]
    assert found == json.loads(compared.to_json())


def test_frames_have_the_pairs():
    found = compare_data(baseline="pca")

    expected = found.pairs().columns
    assert {name: list(own) for name, own in found.to_pandas().items()} == expected
    assert found.to_polars().to_dict(as_series=False) == expected
