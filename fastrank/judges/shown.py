"""What the agreement of judges shows: grids and notes, for the writers of each format."""

from __future__ import annotations

from fastrank.comparing.comparison import CORRECTION_NAMES
from fastrank.document.document import Cell, Document, Grid, Paragraph, Section
from fastrank.document.numbers import interval, number, p_text, signed
from fastrank.messages import counted
from fastrank.scores.tables import grid_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from fastrank.document.document import Block
    from fastrank.judges.agreement import JudgeAgreement
    from fastrank.judges.estimate import JudgeEstimate
    from fastrank.judges.systems import SystemsUnderJudges
    from fastrank.scores.tables import Table

NAMES = {
    "agreement": "equal grades",
    "kappa": "Cohen's kappa",
    "kappa_linear": "Cohen's kappa, linear weights",
    "kappa_quadratic": "Cohen's kappa, quadratic weights",
    "pi": "Scott's pi",
    "ac1": "Gwet's AC1",
    "ac2_linear": "Gwet's AC2, linear weights",
    "ac2": "Gwet's AC2, quadratic weights",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
}


def document_of(found: JudgeAgreement) -> Document:
    """The agreement of judges as a document."""
    blocks: list[Block] = []
    if len(found.judges) == 2:
        blocks += _of_two(found)
    else:
        blocks += [grid_of(found.table()), _alphas(found)]
    if found.systems is not None:
        blocks += _systems(found.systems)
    blocks += [Paragraph(note, "note") for note in found.notes]
    return Document(blocks)


def _of_two(found: JudgeAgreement) -> list[Block]:
    a, b = found.judges
    confusion = Grid(
        [f"{a} \\ {b}", *(f"{grade:g}" for grade in found.grades)],
        [
            [Cell(f"{grade:g}", heads_row=True), *(Cell(f"{count}", True) for count in counts)]
            for grade, counts in zip(found.grades, found.confusion.tolist(), strict=True)
        ],
    )
    rows = []
    table = found.table()
    for name, value, low, high in table.rows():
        shown = signed(value) if name == "bias" else number(value)
        rows.append([
            Cell(_name(name, found), heads_row=True), Cell(shown, True),
            Cell(interval(low, high), True),
        ])  # fmt: skip
    coefficients = Grid(["coefficient", "value", f"{_percent(found)} interval"], rows)
    return [
        Paragraph(
            f"{counted(found.pairs, 'pair')} of query and document judged by both, in"
            f" {counted(len(found.queries), 'query', 'queries')}; {found.only_a:,} only by {a},"
            f" {found.only_b:,} only by {b}."
        ),
        confusion,
        coefficients,
        Paragraph(
            f"Rows of the first table are the grades of {a}. Intervals:"
            f" {found._settings.interval}, {found._settings.draws:,} resamples of the queries, seed"
            f" {found._settings.seed}.",
            "legend",
        ),
    ]


def _percent(found: JudgeAgreement) -> str:
    return f"{100 * found._settings.level:g}%"


def _name(name: str, found: JudgeAgreement) -> str:
    a, b = found.judges
    relevant = f"of {b}, relevant from grade {found.relevance_level:g}"
    others = {
        "bias": f"mean grade of {b} minus that of {a}",
        "higher": f"graded higher by {b}",
        "lower": f"graded lower by {b}",
        "f1": f"F1 {relevant}",
    }
    return NAMES.get(name) or others.get(name) or f"{name} {relevant}"


def _alphas(found: JudgeAgreement) -> Paragraph:
    shown = []
    for metric, value in found.alpha.items():
        bounds = interval(*found.interval(f"alpha_{metric}"))
        shown.append(f"{metric} {number(value)} {bounds}".strip())
    return Paragraph(
        f"Krippendorff's alpha of {len(found.judges)} judges on {counted(found.pairs, 'pair')}"
        f" that two or more judged, with {_percent(found)} intervals: {', '.join(shown)}.",
        "legend",
    )


def _systems(systems: SystemsUnderJudges) -> list[Block]:
    first = systems.judges[0]
    blocks: list[Block] = [
        Section("The order of the systems", [
            grid_of(systems.orders()),
            Paragraph(
                f"lost: pairs of systems that differ significantly by {first}, but not by this"
                " judge; reversed: significantly in the opposite direction; found: only by this"
                " judge.", "legend",
            ),
        ])
    ]  # fmt: skip
    for measure in systems.measures:
        blocks.append(Section(f"Means of {measure}", [grid_of(systems.means(measure))]))
        for judge in systems.judges[1:]:
            changed = systems.verdicts(judge, measure)
            if len(changed):
                grid = grid_of(changed, {"p": p_text, "judged_p": p_text})
                blocks.append(Section(f"Other verdicts by {judge}: {measure}", [grid]))
    family = systems.own_family()
    if family is not None:
        blocks.append(
            Section(
                "Bias for the judge's own family",
                [
                    grid_of(family),
                    Paragraph(
                        f"The judge's value minus that of {first}, mean over queries.", "legend"
                    ),
                ],
            )
        )
    return blocks


def plain(found: JudgeAgreement) -> str:
    """The agreement as JSON, with null for NaN."""
    from fastrank.scores.records import json_text

    content: dict[str, Any] = {
        "judges": found.judges,
        "pairs": found.pairs,
        "alpha": found.alpha,
        "coefficients": list(_records(found.table())),
        "notes": found.notes,
    }
    if len(found.judges) == 2:
        content |= {
            "only_a": found.only_a,
            "only_b": found.only_b,
            "grades": found.grades,
            "confusion": found.confusion.tolist(),
            "queries": list(_records(found.by_query())),
            "by_grade": list(_records(found.by_grade())),
        }
    if found.systems is not None:
        own = found.systems
        content["systems"] = {
            "orders": list(_records(own.orders())),
            "means": {measure: list(_records(own.means(measure))) for measure in own.measures},
            "verdicts": {
                judge: {
                    measure: list(_records(own.verdicts(judge, measure)))
                    for measure in own.measures
                }
                for judge in own.judges[1:]
            },
        }
        family = own.own_family()
        if family is not None:
            content["systems"]["own_family"] = list(_records(family))
    return json_text(content, 2)


def _records(table: Table) -> Iterator[dict[str, Any]]:
    return (dict(zip(table.names, row, strict=True)) for row in table.rows())


def document_of_estimate(found: JudgeEstimate) -> Document:
    """Estimated means and differences as a document."""
    rows = [
        [
            Cell(measure), Cell(run, heads_row=True),
            Cell(f"{number(value)} {interval(low, high)}", True), Cell(number(human), True),
            Cell(number(judge), True), Cell(f"{weight:.2f}", True), Cell(f"{width:.2f}", True),
            Cell(f"{effective:.0f}", True),
        ]
        for measure, run, value, low, high, human, judge, weight, width, effective
        in found.table().rows()
    ]  # fmt: skip
    level = f"{100 * found.level:g}%"
    header = [
        "measure", "run", f"estimate [{level} interval]", "human", "judge", "lambda", "width",
        "effective",
    ]  # fmt: skip
    legend = (
        f"human: from the {found.n} {found.by} that people judged, alone; judge: from its judgments"
        f" of {len(found.queries)} queries, alone. lambda: how much the judge counts. width: of the"
        f" interval, as a share of that of people alone. effective: how many {found.by} judged by"
        " people alone would give this interval."
    )
    blocks: list[Block] = [Grid(header, rows), Paragraph(legend, "legend")]
    if len(found.names) > 1:
        pairs = [
            [
                Cell(measure), Cell(a, heads_row=True), Cell(b),
                Cell(f"{signed(difference)} {interval(low, high, signed)}", True),
                Cell(p_text(p), True),
            ]
            for measure, a, b, difference, low, high, _, p in found.pairs().rows()
        ]  # fmt: skip
        grid = Grid(["measure", "a", "b", f"difference [{level} interval]", "p"], pairs)
        blocks += [grid, Paragraph(f"p: {CORRECTION_NAMES[found.correction]}.", "legend")]
    return Document([*blocks, *(Paragraph(note, "note") for note in found.notes)])


def estimate_json(found: JudgeEstimate) -> str:
    """The estimates as JSON, with null for NaN and infinity."""
    from fastrank.scores.records import json_text

    content = {
        "by": found.by,
        "n": found.n,
        "queries": len(found.queries),
        "population": found.population,
        "level": found.level,
        "correction": found.correction,
        "estimates": list(_records(found.table())),
        "pairs": list(_records(found.pairs())),
        "notes": found.notes,
    }
    return json_text(content, 2)
