"""`fastrank measures`: what exists, how it is defined, which options, from where."""

import re

import pytest

from fastrank.core.measures.families import BY_PLAIN_NAME, FAMILY_BY_NAME, MEASURES
from tests.helpers.commands import printed

NAMES = [measure.name for measure in MEASURES]


def test_all_measures_are_listed_in_one_column_of_whole_phrases():
    lines = printed("measures").splitlines()

    assert [re.split(r"[(.@[ ]", line)[0] for line in lines] == NAMES
    assert len({len(line) - len(line.split(None, 1)[1]) for line in lines}) == 1
    assert lines[-2].endswith("Share of the first min(k, retrieved) documents that are not judged")
    assert lines[-1].endswith(
        "Number of documents in the first k that are not judged for any query"
    )
    assert all(line.count("(") == line.count(")") for line in lines)


def test_measures_that_differ_in_their_average_are_described_differently():
    described = dict(line.partition("(")[::2] for line in printed("measures").splitlines())

    assert described["MedianRank"].endswith("  Median rank of the first relevant document")
    assert described["FirstRank"].endswith("  Mean rank of the first relevant document")


def test_a_measure_is_explained_with_its_options_their_defaults_and_its_source():
    first, *_, last = lines = printed("measures RBP").splitlines()

    assert first == "RBP(p,rel,judged_only,gain,residual)[@k]"
    assert last == "    Source: Moffat and Zobel, ACM TOIS 27(1), 2008; cwl_eval."
    options = [line.partition(":")[0].split() for line in lines if line.startswith(" " * 6)]
    defaults = {name: words[-1] for name, *words in options}
    binary = {"judged_only": "(False)", "gain": "(binary)", "residual": "(False)"}
    assert defaults == {"cutoff": "rank", "p": "(0.8)", "rel": "grade", **binary}


def test_every_measure_but_the_counts_has_a_source():
    texts = printed("measures", *NAMES).split("\n\n")

    counts = {"runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
    assert len(texts) == len({*NAMES})
    assert {text.split()[0] for text in texts if "    Source: " not in text} == counts


def test_a_set_stands_for_its_measures():
    assert len(printed("measures prefs").split("\n\n")) == 8


@pytest.mark.parametrize("name", sorted({*FAMILY_BY_NAME, *BY_PLAIN_NAME}))
def test_every_other_name_is_explained_without_its_parameters(name):
    """`HitRate` and `hit_ratio` need a rank to be computed, and none to be looked up."""
    assert printed("measures", name)


@pytest.mark.parametrize("names", ["'map,ndcg@10 P_5'", "map 'ndcg@10,' ' P_5 '"])
def test_names_are_separated_by_commas_and_blanks(names):
    assert printed(f"measures {names}") == printed("measures map ndcg@10 P_5")
    assert printed("measures P.5,10 nDCG@5,10") == printed("measures P.5 nDCG@5")
