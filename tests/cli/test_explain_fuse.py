"""`fastrank explain` and `fastrank fuse`: what they print is what their functions give."""

from __future__ import annotations

import pytest

import fastrank as fr
from tests.helpers.commands import PCA, PROFILE, QRELS, fastrank, printed, process, write

FILES = f"{QRELS} {PROFILE}"


@pytest.mark.parametrize(
    ("line", "measures", "options"),
    [
        ("-m map -m P.5 --query q0004", ("map P.5",), {"query": "q0004"}),
        (f"-m map --other {PCA}", ("map",), {"other": PCA}),
        (
            f"-l 2 --ties docno_asc --depth 50 --rows 3 --query q0004 --other {PCA}",
            (),
            {
                "query": "q0004",
                "other": PCA,
                "rows": 3,
                "relevance_level": 2,
                "ties": "docno_asc",
                "depth": 50,
            },
        ),
    ],
)
def test_the_explanation_is_printed(
    line: str, measures: tuple[str, ...], options: dict[str, object]
) -> None:
    expected = fr.explain(QRELS, PROFILE, *measures, **options)  # type: ignore[arg-type]

    assert printed(f"explain {line} {FILES}") == f"{expected}\n"


def test_the_values_of_another_tool_are_explained() -> None:
    scores = fr.evaluate(QRELS, PROFILE, "map", depth=10)
    write({"trec_eval.txt": scores.to_trec(per_query=True)})

    found = fastrank(f"explain --against trec_eval.txt {FILES}")

    assert found.status == 0
    assert "ours 0.3447. Reproduced to 4 decimals by depth=10" in found.out


# --- fuse ---


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        ("--rrf-k 10 --weights 1,.5", {"rrf_k": 10, "weights": [1, 0.5]}),
        ("--method rbc -p 0.9", {"method": "rbc", "p": 0.9}),
        ("--method gmnz --gamma 2", {"method": "gmnz", "gamma": 2}),
        ("--method logn_isr --sigma 1", {"method": "logn_isr", "sigma": 1}),
        (
            "--method combsum --normalization z --unretrieved zero",
            {"method": "combsum", "normalization": "z", "unretrieved": "zero"},
        ),
        (
            "--depth 20 --keep 10 --ties docno_asc --threads 1",
            {"depth": 20, "keep": 10, "ties": "docno_asc"},
        ),
        ("--trec-eval-version 10.0", {"trec_eval_version": "10.0"}),
    ],
)
def test_flags_are_the_options(flags: str, options: dict[str, object]) -> None:
    assert printed(f"fuse {flags} -o fused.run {PCA} {PROFILE}") == ""

    assert fr.read_run("fused.run").to_dict() == fr.fuse([PCA, PROFILE], **options).to_dict()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["fused.csv.gz", "fused.jsonl.xz", "fused"])
def test_the_fused_run_is_the_same_in_every_format(name: str) -> None:
    assert printed(f"fuse -o {name} {PCA} {PROFILE}") == ""

    assert fr.read_run(name).to_dict() == fr.fuse([PCA, PROFILE]).to_dict()


def test_the_output_is_what_trec_eval_takes() -> None:
    fused = printed(f"fuse {PCA} {PROFILE}")

    found = process(f"trec_eval -m map {QRELS} -", input=fused)

    assert found == (0, "map                   \tall\t0.4494\n", "")


def test_the_environment_sets_the_version_of_trec_eval(monkeypatch: pytest.MonkeyPatch) -> None:
    write({"a.run": "q Q0 a 1 1.0000000001 t\nq Q0 b 2 1.0 t\n"})
    monkeypatch.setenv("FASTRANK_TREC_EVAL_VERSION", "10.0")

    assert printed("fuse --keep 1 a.run a.run").startswith("q Q0 a ")
