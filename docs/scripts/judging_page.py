"""Writes docs/judging.md: python docs/scripts/judging_page.py FOLDER

FOLDER has the judgments of https://github.com/llm4eval/LLMJudge-benchmark as files JUDGE.qrels, and
those of people as human.qrels: the passages of TREC Deep Learning 2023.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import fastrank as fr
from fastrank.cli.main import main as fastrank

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
PAGE = ROOT / "docs" / "judging.md"
# The judge of the worked example, one of the better ones.
JUDGE = "willia-umbrela1"
SEED = 2023


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


def judges_table(folder: Path, human: Any, runs: dict[str, Any]) -> str:
    """A row for each judge: agreement, bias, and what it does to the systems."""
    lines = [
        "| judge | equal grades | quadratic kappa | bias of grades | mean nDCG@10 off by | tau |"
        " largest drop | r per query |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    people = fr.evaluate(human, runs, "nDCG@10")
    for path in sorted(folder.glob("*.qrels")):
        if path.stem.startswith("human"):
            continue
        found = fr.judge_agreement(human, path, runs=runs, measures="nDCG@10", names=["h", "j"])
        assert found.systems is not None
        order = dict(
            zip(found.systems.orders().names, next(found.systems.orders().rows()), strict=True)
        )
        means = found.systems.means("nDCG@10").columns
        off = float(np.mean(np.array(means["j"]) - np.array(means["h"])))
        scores = fr.evaluate(path, runs, "nDCG@10")
        r = np.mean([
            np.corrcoef(a["nDCG@10"], b["nDCG@10"])[0, 1]
            for a, b in zip(people, scores, strict=True)
        ])  # fmt: skip
        low, high = found.interval("kappa_quadratic")
        lines.append(
            f"| {path.stem} | {found.agreement:.2f} | {found.kappa_quadratic:.2f}"
            f" [{low:.2f}, {high:.2f}] | {found.bias:+.2f} | {off:+.2f} | {order['tau_b']:.2f} |"
            f" {order['largest_drop']} | {r:.2f} |"
        )
    return "\n".join(lines)


def output(arguments: list[str]) -> str:
    """What a command prints."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(stream):
        assert fastrank(arguments) == 0, arguments
    stream.flush()
    return stream.buffer.getvalue().decode().rstrip("\n")  # type: ignore[attr-defined]


def page(folder: Path) -> str:
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
        agreement = output(["judges", "people.qrels", "model.qrels"])
        estimate = output(
            ["estimate", "--human", "people.qrels", "--judge", "model.qrels", "-m", "nDCG@10",
             "ours.run", "theirs.run"]
        )  # fmt: skip
        plan = ["plan", "-n", "100", "--judge", "model.qrels", "--depth", "10"]
        sheet = output([*plan, "--plan", "plan.json", "ours.run", "theirs.run"])
        drawn: dict[str, dict[str, int]] = {}
        for line in sheet.splitlines()[1:]:
            query, document, *_ = line.split("\t")
            drawn.setdefault(query, {})[document] = human[query][document]
        fr.write_qrels(fr.Qrels.from_dict(drawn), "judged.qrels")
        pairs = output(
            ["estimate", "--plan", "plan.json", "--human", "judged.qrels", "--judge", "model.qrels",
             "-m", "P(rel=2)@10", "ours.run", "theirs.run"]
        )  # fmt: skip
        truth = fr.evaluate("all.qrels", ["ours.run", "theirs.run"], "nDCG@10 P(rel=2)@10")
    found = fr.judge_agreement(human, folder / f"{JUDGE}.qrels")
    return TEXT.format(
        judges=judges_table(folder, human, twenty),
        agreement=agreement,
        estimate=estimate,
        sheet="\n".join(sheet.splitlines()[:4]),
        pairs=pairs,
        coverage=coverage.table(repetitions=5000),
        judge=JUDGE,
        kappa=f"{found.kappa_quadratic:.2f}",
        ndcg=" and ".join(f"{own.mean['nDCG@10']:.4f}" for own in truth),
        precision=" and ".join(f"{own.mean['P(rel=2)@10']:.4f}" for own in truth),
    )


TEXT = """\
# Judging with language models

A language model judges thousands of passages in an hour. How far its numbers are from those that people
would give is another question, which fastrank answers from judgments that you have. It calls no model:
it reads judgments (qrels) of people, of models, of any number of judges, in any format.

<!-- Made by docs/scripts/judging_page.py: change that, not this page. -->

## What can go wrong

Twelve models judged the passages of TREC Deep Learning 2023: 4,423 pairs of 25 queries, with grades from
0 to 3 (Rahmani et al., ["Judging the judges"](https://arxiv.org/abs/2502.13908), 2025). Compared with
people, and with twenty systems made by adding noise to the grades of people:

{judges}

Kappa, bias, and the order of systems answer different questions. A judge can order systems as people do
and still be far off in every mean, and the other way round. Values of single queries (`r per query`, the
mean correlation over the systems) agree much less than means do. So: agreement first, then estimates
that correct the judge, then more judgments where they help most.

## Does the judge agree with people?

Let people judge some queries again, drawn at random. Here they judged ten of the 25, and the model,
`{judge}`, all:

```console
$ fastrank judges people.qrels model.qrels
{agreement}
```

The intervals are bootstrap intervals over queries, because pairs of one query are not independent. With
`--run RUN` for each of several runs, the output also has what the judge does to their order, and, with
`--own-family`, how much it prefers runs that used the same model. In Python:

```pycon
>>> import fastrank as fr
>>> human = {{"q1": {{"d1": 2, "d2": 0, "d3": 1}}, "q2": {{"d1": 1, "d4": 0}}}}
>>> judge = {{"q1": {{"d1": 2, "d2": 1, "d3": 1}}, "q2": {{"d1": 1, "d4": 0}}}}
>>> found = fr.judge_agreement(human, judge)
>>> found.kappa_quadratic, found.interval("kappa_quadratic")
(0.8, (0.666..., 1.0))
```

Several judges at once have a row for each pair, and Krippendorff's alpha over all, with missing labels.

## Which system is better?

The judge's mean alone has no meaningful interval: more queries make it narrower around the wrong number.
`fastrank estimate` combines both: the people's mean, corrected by what the judge says of the other
queries ([PPI++](https://arxiv.org/abs/2311.01453)). `lambda` is how much the judge counts; with a useless
judge it is 0, and the result is that of people alone.

```console
$ fastrank estimate --human people.qrels --judge model.qrels -m nDCG@10 ours.run theirs.run
{estimate}
```

All 25 queries judged by people give {ndcg}. The queries that people judge must be a random sample; hand-picked
ones give wrong numbers, and fastrank warns if they look like that. Several judges (`--judge` repeated)
are combined by weights that are fitted on the human sample, each part of it from the others.

How much a judge can save depends on how well its values per query follow those of people: with a
correlation r, the interval is at best sqrt(1 - r²) as wide. At r = 0.4 that is 0.92: eight percent. A
judge is worth its cost here from about r = 0.7 (0.71, half of the human queries saved).

## What should be judged next?

For measures that add over documents (P@k, DCG@k, RBP), people can judge single pairs instead of whole
queries. A plan draws them at random from strata by rank and by the judge's grade:

```console
$ fastrank plan -n 100 --judge model.qrels --depth 10 --plan plan.json -o judge.tsv ours.run theirs.run
$ head -4 judge.tsv
{sheet}
```

Assessors see neither ranks nor the judge's grades. Filled in, the file goes back with the plan:

```console
$ fastrank estimate --plan plan.json --human judged.tsv --judge model.qrels -m 'P(rel=2)@10' ours.run theirs.run
{pairs}
```

All pairs judged by people give {precision}. To draw whole queries, use `--by queries`; with `--difference 0.05`
the plan has as many as the paired t-test needs to find that difference.

## How often are the intervals right?

`python -m bench coverage` lets people judge n random queries again and again (5,000 times), with the runs
and judgments in `data/` and two judges simulated from the confusion matrices of real ones, and counts how
often the 95 % interval has the mean over all queries. `people alone` is the same from the human sample
without the judge; `width` is the width of the interval as a share of that.

{coverage}

AP and nDCG@10 keep their level. RR@10 and P@10 of `pixels` do not, with or without a judge: nearly all
queries have the value 1, so that a sample may have no others. The output warns where 80 % of the human
values are the same. Below 20 queries it warns, too.

## Work on judgments

| task | command | Python |
|---|---|---|
| merge judgments of several judges | `fastrank qrels merge --prefer majority` | `fr.merge_qrels` |
| see what changed between two versions | `fastrank qrels diff` | `fr.diff_qrels` |
| find unjudged documents in the top ranks | `fastrank qrels holes` | `fr.unjudged` |
| list the pool of runs | | `fr.pool` |
"""

if __name__ == "__main__":
    PAGE.write_text(page(Path(sys.argv[1]).resolve()))
