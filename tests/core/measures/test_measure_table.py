"""The table of measures is complete: order, help, kernels, sets, parameters."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import fastrank
from fastrank.common.arguments import TREC_EVAL_VERSIONS
from fastrank.core.kernels.measures import signatures
from fastrank.core.measures.families import FAMILIES, MEASURES
from fastrank.core.measures.measure_options import Family
from fastrank.core.measures.selection import Selection
from fastrank.core.measures.trec import MEASURES as TREC_MEASURES
from fastrank.core.measures.trec import NICKNAMES

KERNELS = Path(fastrank.__file__).parent / "core/kernels"
NOT_TIED = {name for name in vars(signatures) if name.isupper() and "TIED" not in name}
ORDER = (
    "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"
    " relstring recall infAP gm_bpref Rprec_mult utility 11pt_avg binG G dcg ideal_dcg ndcg"
    " ndcg_rel Rndcg ndcg_cut map_cut relative_P success set_P set_relative_P set_recall set_map"
    " set_F num_nonrel_judged_ret prefs_num_prefs_poss prefs_num_prefs_ful prefs_num_prefs_ful_ret"
    " prefs_simp prefs_pair prefs_avgjg prefs_avgjg_Rnonrel prefs_simp_ret prefs_pair_ret"
    " prefs_avgjg_ret prefs_avgjg_Rnonrel_ret prefs_simp_imp prefs_pair_imp prefs_avgjg_imp"
    " map_avgjg P_avgjg Rprec_mult_avgjg yaap rbp rbp_resid unj"
)


def _exported() -> dict[str, str]:
    """Every kernel, and the text of its signature."""
    found = {}
    for path in KERNELS.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "kernel":
                        found[node.name] = ast.unparse(decorator.args[0])
                        for over_ties in decorator.args[1:]:
                            found[f"{node.name}_over_ties"] = ast.unparse(over_ties)
    return found


def _kernels() -> set[str]:
    """The kernels of all records, and of the forms that options choose."""
    own = {measure.kernel for measure in MEASURES if measure.kernel}
    return own | {form.kernel for family in FAMILIES for form in _forms(family)}


def _forms(family: Family) -> list[Family]:
    return [
        family.resolved({option: 1 if value is ... else value}) for option, value, _ in family.forms
    ]


def test_order_is_that_of_trec_eval():
    assert [measure.name for measure in TREC_MEASURES] == ORDER.split()
    assert MEASURES[: len(TREC_MEASURES)] == TREC_MEASURES


def test_every_kernel_of_a_measure_exists():
    """A record names a kernel that is exported, unless it needs none."""
    exported = _exported()

    assert _kernels() <= exported.keys()
    assert [m.name for m in MEASURES if not m.kernel] == ["runid", "num_q", "NumQ"]


def test_every_measure_kernel_has_a_record():
    """A kernel over one query's ranking, gains or preferences is some measure's kernel."""
    takes_a_record = {
        name
        for name, signature in _exported().items()
        if signature in NOT_TIED or "(Ranking," in signature
    }

    by_ties = {measure.kernel for measure in MEASURES if measure.needs == "ties"}
    assert takes_a_record == _kernels() - by_ties


def test_a_measure_has_an_expected_value_if_its_kernel_has_a_version_for_ties():
    """The median of expected values is not the expected median."""
    exported = _exported()
    every = [*MEASURES, *(form for family in FAMILIES for form in _forms(family))]
    by_query = [own for own in every if own.needs != "groups" and own.average != "median"]

    own_kernels = [own for own in by_query if own.over_ties]
    known = {own.kernel for own in own_kernels if not own.over_ties.startswith("fixed")}
    assert {own.expected_kernel for own in own_kernels} - {""} <= exported.keys()
    over_ties = {name for name in exported if name.endswith("_over_ties")}
    assert over_ties <= known | {f"{kernel}_over_ties" for kernel in known}
    assert [own.name for own in by_query if not own.over_ties and own.kernel in known] == []


def test_a_kernel_that_writes_a_value_per_cutoff_gets_one():
    """More numbers would be written behind the room that a measure with options has."""
    per_cutoff = {measure.kernel for measure in TREC_MEASURES if measure.takes == "cutoffs"}

    assert {
        family.name: family.numbers
        for family in FAMILIES
        if per_cutoff & {family.kernel, *(form.kernel for form in _forms(family))}
        and family.numbers != ("cutoff",)
    } == {}
    names = [measure.name for measure in TREC_MEASURES if measure.kernel in per_cutoff]
    for bound in Selection([*names, "ndcg.p=0.5"], original=True).bind("10.0"):
        assert len(bound.numbers) == len(bound.names)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_help_says_what_it_is(measure):
    """Help is a full text, fits a terminal, and names parameters exactly if there are some."""
    assert measure.help.endswith(".")
    assert max(map(len, measure.help.split("\n"))) <= 90
    assert ("Parameter" in measure.help) == bool(measure.takes)


def test_sets_have_the_members_of_the_original():
    sizes = [
        {f"{name}={len(Selection([name]).measures(version))}" for name in NICKNAMES}
        for version in TREC_EVAL_VERSIONS
    ]

    same = "official=12 set=11 all_prefs=16 prefs=8 qrels_jg=5"
    assert sizes == [{*same.split(), "all_trec=34"}, {*same.split(), "all_trec=37"}]
