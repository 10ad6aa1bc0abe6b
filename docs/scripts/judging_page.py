"""Writes docs/judging.md and its pictures: python docs/scripts/judging_page.py FOLDER QRELS RUN RUN

FOLDER has the judgments of https://github.com/llm4eval/LLMJudge-benchmark as files JUDGE.qrels, and
those of people as human.qrels: the passages of TREC Deep Learning 2023. QRELS and RUN, which NIST
has, are those of TREC Robust 2003 and of pircRBa1 and humR03dc.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import warnings
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

import fastrank as fr
from fastrank.cli.main import main as fastrank
from fastrank.core.formats.inputs import run_name

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
PAGE, IMAGES = ROOT / "docs" / "judging.md", ROOT / "docs" / "images"
MEASURES = ("map", "nDCG@10", "RR@10")
REPETITIONS = 5000
# The judge of the worked example, one of the better ones.
JUDGE = "willia-umbrela1"
SEED = 2023
# What the page shows of the judges and of the coefficients.
SHOWN = (
    "NISTRetrieval-reason1",
    "RMITIR-GPT4o",
    "TREMA-4prompts",
    "TREMA-nuggets",
    "h2oloo-zeroshot1",
    JUDGE,
)
LEFT_OUT = ("Scott's pi", "Gwet's", "Krippendorff's alpha, nominal")


def systems(human: dict[str, dict[str, int]], count: int) -> dict[str, Any]:
    """Runs that rank by the human grade and more and more noise."""
    draw = np.random.default_rng(SEED)
    return {
        f"system{place:02}": {
            query: {doc: grade + spread * float(draw.normal()) for doc, grade in docs.items()}
            for query, docs in human.items()
        }
        for place, spread in enumerate(np.linspace(0.8, 4.0, count), 1)
    }


def rs(by_people: Any, by_judge: Any, measure: str) -> float:
    """The mean correlation over the systems of the values per query by people and by a judge.

    Systems whose values are all the same have none.
    """
    both = zip(by_people, by_judge, strict=True)
    values = [(a[measure], b[measure]) for a, b in both]
    return float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in values if np.ptp(a) * np.ptp(b)]))


class Judges:
    """A row for each judge shown: agreement, bias, what it does to the systems; and the ranges."""

    def __init__(self, folder: Path, human: Any, runs: dict[str, Any]) -> None:
        self.lines = [
            "| judge | equal grades | quadratic kappa | bias of grades | mean nDCG@10 off by | tau |"
            " r per query |",
            "|---|--:|--:|--:|--:|--:|--:|",
        ]
        self.spread: dict[str, list[list[float]]] = {name: [[], []] for name in MEASURES}
        for path in sorted(folder.glob("*.qrels")):
            if not path.stem.startswith("human"):
                self._add(path, human, runs)

    def _add(self, path: Path, human: Any, runs: dict[str, Any]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = fr.judge_agreement(human, path)
        taus = {}
        for measure, (correlations, gaps) in self.spread.items():
            by_people, by_judge = (fr.evaluate(qrels, runs, measure) for qrels in (human, path))
            pairs = zip(by_people, by_judge, strict=True)
            gaps.append(float(np.mean([b.mean[measure] - a.mean[measure] for a, b in pairs])))
            correlations.append(rs(by_people, by_judge, measure))
            taus[measure] = fr.agreement(by_people, by_judge).tau_b
        if path.stem not in SHOWN:
            return
        correlations, gaps = self.spread["nDCG@10"]
        low, high = found.interval("kappa_quadratic")
        self.lines.append(
            f"| {path.stem} | {found.agreement:.2f} | {found.kappa_quadratic:.2f}"
            f" [{low:.2f}, {high:.2f}] | {found.bias:+.2f} | {gaps[-1]:+.2f} |"
            f" {taus['nDCG@10']:.2f} | {correlations[-1]:.2f} |"
        )

    def ranges(self) -> str:
        """From the least to the most of each measure."""
        return "; ".join(
            f"{min(r):.2f} to {max(r):.2f} for {name}, with means off by {min(gaps):+.2f} to"
            f" {max(gaps):+.2f}"
            for name, (r, gaps) in self.spread.items()
        )


def output(arguments: list[str]) -> str:
    """What a command prints."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(stream):
        assert fastrank(arguments) == 0, arguments
    stream.flush()
    return stream.buffer.getvalue().decode().rstrip("\n")  # type: ignore[attr-defined]


def shortened(table: str) -> str:
    """With dots in place of the coefficients that the page leaves out."""
    lines = ["..." if line.startswith(LEFT_OUT) else line for line in table.splitlines()]
    return "\n".join(line for line, _ in groupby(lines))


def page(folder: Path, qrels: str, runs: list[str]) -> str:
    """The text of the page."""
    from bench import coverage

    human = fr.read_qrels(folder / "human.qrels").to_dict()
    twenty = systems(human, 20)
    draw = np.random.default_rng(SEED)
    sample = sorted(map(str, draw.permutation(sorted(human))[:10]))
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        Path("model.qrels").write_bytes((folder / f"{JUDGE}.qrels").read_bytes())
        Path("all.qrels").write_bytes((folder / "human.qrels").read_bytes())
        fr.write_qrels(fr.Qrels.from_dict({q: human[q] for q in sample}), "people.qrels")
        for run, own in (("ours", "system03"), ("theirs", "system08")):
            fr.write_run(fr.Run.from_dict(twenty[own]), f"{run}.run")
        agreement = shortened(
            output(["judges", "people.qrels", "model.qrels", "--plot", "matrix.svg"])
        )
        estimate = output(
            [
                "estimate",
                "--human",
                "people.qrels",
                "--judge",
                "model.qrels",
                "-m",
                "nDCG@10",
                "ours.run",
                "theirs.run",
                "--plot",
                "means.svg",
            ]
        )
        for name in ("matrix", "means"):
            (IMAGES / f"judging-{name}.svg").write_bytes(Path(f"{name}.svg").read_bytes())
        plan = ["plan", "-n", "100", "--judge", "model.qrels", "--depth", "10"]
        sheet = output([*plan, "--plan", "plan.json", "ours.run", "theirs.run"])
        truth = fr.evaluate("all.qrels", ["ours.run", "theirs.run"], "nDCG@10")
    rows = list(coverage.rows(qrels, {run_name(run): run for run in runs}, REPETITIONS))
    short = [own for own in rows if coverage.falls_short(own, REPETITIONS)]
    assert not short, short
    plans = list(coverage.plan_rows(qrels, {run_name(run): run for run in runs}, REPETITIONS // 10))
    short_plans = [row for row in plans if coverage.falls_short(row, REPETITIONS // 10)]
    assert not short_plans, short_plans
    biased = [row for row in rows if row.judge_alone < 0.5]
    judges = Judges(folder, human, twenty)
    return TEXT.format(
        judges="\n".join(judges.lines),
        ranges=judges.ranges(),
        agreement=agreement,
        estimate=estimate,
        sheet="\n".join(sheet.splitlines()[:4]),
        judge=JUDGE,
        plan_least=f"{100 * min(row.coverage for row in plans):.1f}",
        repetitions=f"{REPETITIONS:,}",
        least=f"{100 * min(min(row.everyone, row.queries) for row in rows):.1f}",
        most=f"{100 * max(max(row.everyone, row.queries) for row in rows):.1f}",
        alone=f"{len(biased)} of the {len(rows)}",
        ndcg=" and ".join(f"{own.mean['nDCG@10']:.4f}" for own in truth),
    )


TEXT = """\
# Judging with language models

How far are the numbers of a language model that judges passages from those that people would give? fastrank
answers this from judgments (qrels) of people and models that you have; it calls no model.

<!-- Made by docs/scripts/judging_page.py: change that, not this page. -->

## What can go wrong

Twelve models judged the passages of TREC Deep Learning 2023: 4,423 pairs of 25 queries, with grades from
0 to 3 (Rahmani et al., ["Judging the judges"](https://arxiv.org/abs/2502.13908), 2025). Six of them,
compared with people, and on twenty systems made by adding noise to the grades of people:

{judges}

A judge can order systems as people do (`tau`, Kendall's) and still be far off in every mean, and the
other way round. Values of single queries (`r per query`, the mean correlation over the systems) follow
those of people loosely, over all twelve: {ranges}.

## Does the judge agree with people?

Let people judge some queries again, drawn at random. Here they judged ten of the 25, and the model,
`{judge}`, all:

```console
$ fastrank judges people.qrels model.qrels --plot matrix.svg
{agreement}
```

![The confusion matrix of people and the model](images/judging-matrix.svg)

In Python, this is `fr.judge_agreement(people, model)`. To see what the judge does to the order of your
systems, evaluate them with both judgments, and compare the two by
[`fr.agreement`](comparing.md#agreement-of-rankings).

Several judges at once have a row for each pair, and Krippendorff's alpha over all, with missing labels.
Judges whose sets of grades differ, such as 0 and 1 against 0 to 3, cause a warning; `scale` or `--scale`
maps them.

## Which system is better?

The judge's mean alone has no meaningful interval: more queries make it narrower around the wrong number.
`fastrank estimate` corrects the people's mean by what the judge says of the other queries ([PPI++](https://arxiv.org/abs/2311.01453)).

```console
$ fastrank estimate --human people.qrels --judge model.qrels -m nDCG@10 ours.run theirs.run --plot means.svg
{estimate}
```

![Means by people alone, combined, and by the judge alone, with intervals](images/judging-means.svg)

All 25 queries judged by people give {ndcg}. The interval of the judge alone, in the picture,
knows nothing of the judge's errors.

The queries that people judge must be a random sample. Several judges (`--judge` repeated) are combined by
weights that are fitted on it. The queries are by default a sample of what users ask; with
`--population queries` they are all there are.

With a correlation r of the values per query by people and by the judge, the interval is at best
sqrt(1 - r²) as wide: 0.92 at r = 0.4, and 0.71 at r = 0.7, as with twice as many queries judged by people.
None of these models can replace people: every mean would be off. Where `lambda` is 0 or `width` is 1, only
more judgments by people help.

## What should be judged next?

For measures that add over documents (P@k, DCG@k, RBP), people can judge single pairs instead of whole
queries. A plan draws them at random from strata by rank and by the judge's grade:

```console
$ fastrank plan -n 100 --judge model.qrels --depth 10 --plan plan.json -o judge.tsv ours.run theirs.run
$ head -4 judge.tsv
{sheet}
```

Filled in, the file goes back with the plan: `fastrank estimate --plan plan.json --human judge.tsv --judge
model.qrels -m 'P(rel=2)@10' ours.run theirs.run`. If assessors did not finish, `--partial` takes empty
grades as missing at random. In Python, `plan.qrels(grades)` makes judgments with strata for xinfAP and
infNDCG:

```pycon
>>> import fastrank as fr
>>> run = {{f"q{{i}}": {{f"d{{j}}": float(-j) for j in range(20)}} for i in range(10)}}
>>> plan = fr.plan_judgments({{"ours": run}}, 40, depth=20)
>>> sheet = plan.sheet().columns
>>> grades = fr.Qrels.from_arrays(sheet["query"], sheet["document"], [1, 0] * 20)
>>> fr.evaluate(plan.qrels(grades), run, "infAP").mean
{{'infAP': 0.4...}}
```

To draw whole queries, use `--by queries`; with `--difference 0.05` the plan has as many as the paired t-test
needs to find that difference.

## How often are the intervals right?

`python -m bench coverage` has people judge n random queries {repetitions} times, with judges that are simulated from
their confusion matrices. On TREC Robust 2003, with n from 20 to 100, intervals of means and differences hold
the true mean in {least} to {most} % of the repetitions. Those of the judge alone hold it in less than half of them
in {alone} cases. Intervals of plans of pairs hold it in {plan_least} % or more. Where most values
are equal, intervals are rather too wide. Below 20 queries, the output warns.
[Benchmarks](../bench/README.md#intervals-of-estimates) has tables.
"""

if __name__ == "__main__":
    folder, *others = (Path(given).resolve() for given in sys.argv[1:])
    PAGE.write_text(page(folder, str(others[0]), list(map(str, others[1:]))))
