"""The contents of a comparison: grids, a legend, and notes, for the writers of each format."""

from __future__ import annotations

from typing import NamedTuple

from fastrank.analysis.comparing.groups import alphabet, letters_of
from fastrank.analysis.comparing.limits import IMPOSSIBLE
from fastrank.analysis.comparing.options import METHOD_NAMES
from fastrank.analysis.comparing.pair_tests import gains
from fastrank.analysis.comparing.pairs import pairs_of
from fastrank.analysis.comparing.tables import all_standings, separations
from fastrank.common.arguments import at_least, check_choice, flag
from fastrank.common.messages import counted
from fastrank.common.rendering.document import Cell, Document, Grid, Paragraph
from fastrank.common.rendering.numbers import (
    DIGITS,
    IN_PERCENT,
    PERCENT_DIGITS,
    interval,
    number,
    p_text,
    p_words,
)
from fastrank.common.rendering.text import SYMBOLS
from fastrank.core.results.table import grid_of
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.comparing.pairs import Pair

    Symbols = tuple[str, str, str]

# The columns that a measure may have.
SHOWN = ("mean", "interval", "p")
# The interval of the same kind as a test.
OF_TESTS = {"t": "t", "bootstrap": "studentized"}


class Layout(NamedTuple):
    """How to show a comparison.

    names: the systems in the order of the rows. letters: the letter of each system, none with
    baselines and for a single system. compact: whether superscripts are the compact letter display.
    symbols: those for significantly better, significantly worse, and at most.
    """

    names: list[str]
    letters: dict[str, str]
    digits: int
    percent: bool
    compact: bool
    symbols: Symbols

    def number(self, value: float) -> str:
        """A value, rounded."""
        return number(self._scaled(value), self.digits)

    def difference(self, value: float) -> str:
        """A value with its sign, rounded."""
        return number(self._scaled(value), self.digits, signed=True)

    def _scaled(self, value: float) -> float:
        return 100 * value if self.percent else value


def layout_of(
    comparison: Comparison,
    *,
    digits: int | None = None,
    percent: bool = False,
    letters: bool = False,
    sort: str | None = None,
    symbols: Symbols = SYMBOLS,
) -> Layout:
    """The layout for the options of the methods of `Comparison`.

    Raises OptionError for invalid options, and MeasureError for a measure that is not compared.
    """
    percent, compact = flag("percent", percent), flag("letters", letters)
    if compact and comparison.baseline:
        raise OptionError("letters", "needs all pairs; compare without a baseline")
    if digits is None:
        digits = PERCENT_DIGITS if percent else DIGITS
    names = comparison.names
    if sort is not None:
        # Raises MeasureError if none can be the best.
        comparison.best(sort)
        names = comparison.ranked(sort)
    has_letters = not (comparison.baseline or compact or len(names) == 1)
    lettered = dict(zip(names if has_letters else (), alphabet(), strict=False))
    return Layout(names, lettered, at_least("digits", digits, 0), percent, compact, symbols)


def document_of(comparison: Comparison, **options: Any) -> Document:
    """The means with letters or, with baselines, the differences from them; a legend, and notes.

    options: of `layout_of`.
    """
    layout = layout_of(comparison, **options)
    if comparison.baseline:
        grids = [_differences(comparison, measure, layout) for measure in comparison.measures]
    else:
        with_interval = len(layout.names) == 1 and interval_name(comparison)
        shown = ("mean", "interval") if with_interval else ("mean",)
        grids = [_columns(comparison, layout, shown, {})]
    return explained(comparison, grids, _legend(comparison, layout))


def explained(comparison: Comparison, grids: Sequence[Grid], legend: str) -> Document:
    """Grids with their legend and the notes, of which those on what cannot be known come first."""
    impossible: list[Paragraph] = []
    others: list[Paragraph] = []
    for note in comparison.notes:
        (impossible if IMPOSSIBLE in note else others).append(Paragraph(f"Note: {note}.", "note"))
    return Document([*impossible, *grids, Paragraph(legend, "legend"), *others])


def _columns(
    comparison: Comparison, layout: Layout, shown: Sequence[str], marks: Mapping[str, str]
) -> Grid:
    """A row for each system, and for each measure the columns to show."""
    header = ["", "system"] if layout.letters else ["system"]
    rows = [
        [*([Cell(layout.letters[name])] if layout.letters else []), Cell(name, heads_row=True)]
        for name in layout.names
    ]
    for measure in comparison.measures:
        for kind in shown:
            title, cells = _column(comparison, measure, kind, layout, marks)
            header.append(title)
            for row, name in zip(rows, layout.names, strict=True):
                row.append(cells[name])
    return Grid(header, rows)


def _cells_of_means(comparison: Comparison, measure: str, layout: Layout) -> dict[str, Cell]:
    """The mean of each system, with its place and the letters of its superscript."""
    mean = comparison.mean[measure]
    texts = {name: layout.number(mean[name]) for name in layout.names}
    compact = letters_of(comparison.analysis(measure).alike()) if layout.compact else {}
    index_of = {name: index for index, name in enumerate(comparison.names)}
    pairs = _pairs_by_names(comparison, measure) if layout.letters else {}
    places = _places(comparison, measure, texts)
    cells = {}
    for name, text in texts.items():
        beaten = set(comparison.beaten(measure, name)) if layout.letters else ()
        others = [rival for rival in layout.letters if rival in beaten]
        bounds = _interval_of(comparison, measure, name, layout)
        cells[name] = Cell(
            text,
            number=True,
            place=places.get(text, 0),
            marks=tuple(compact.get(index_of[name]) or [layout.letters[rival] for rival in others]),
            title=f"{interval_name(comparison)} {bounds}" if bounds else "",
            marks_title="; ".join(_tested(layout, pairs[name, rival]) for rival in others),
        )
    return cells


def _places(comparison: Comparison, measure: str, texts: dict[str, str]) -> dict[str, int]:
    """{text: place} of the two best values as they are shown; the second only of three or more."""
    if not comparison.analysis(measure).has_best:
        return {}
    ranked = list(dict.fromkeys(texts[name] for name in comparison.ranked(measure)))
    count = 2 if len(texts) > 2 else 1
    return {text: place for place, text in enumerate(ranked[:count], 1)}


def _pairs_by_names(comparison: Comparison, measure: str) -> dict[tuple[str, str], Pair]:
    """The pairs of a measure by the names of their systems, in either order."""
    pairs = {}
    for pair in pairs_of(comparison, measure):
        pairs[pair.a, pair.b] = pair
        pairs[pair.b, pair.a] = pair._replace(
            b=pair.a, difference=-pair.difference, low=-pair.high, high=-pair.low
        )
    return pairs


def _tested(layout: Layout, pair: Pair) -> str:
    """The difference from a system, with its interval and p-value."""
    return f"{_difference(layout, pair)} from {pair.b}, {p_words(pair.p_adjusted)}"


def _difference(layout: Layout, pair: Pair) -> str:
    bounds = interval(pair.low, pair.high, layout.difference)
    return f"{layout.difference(pair.difference)} {bounds}".rstrip()


def _interval_of(comparison: Comparison, measure: str, name: str, layout: Layout) -> str:
    return interval(*comparison.interval_of(measure, name), layout.number)


def _differences(comparison: Comparison, measure: str, layout: Layout) -> Grid:
    """A row for each system and baseline: the mean, then the difference."""
    several, has_better = len(comparison.baseline) > 1, bool(comparison.better(measure))
    header = ["system", measure, *(["baseline"] if several else []), _diff_name(comparison), "p"]
    header += ["+/=/-", ""] if has_better else []
    means = _cells_of_means(comparison, measure, layout)
    pairs = _pairs_by_system(comparison, measure, layout)
    rows = []
    for name, system_pairs in pairs.items():
        for pair in system_pairs:
            row = [Cell(name, heads_row=True), means[name]]
            if several:
                row.append(Cell(pair.b))
            row.append(Cell(_difference(layout, pair), number=True))
            row.append(_p_cell(layout, pair))
            rows.append(row + (_counts(comparison, pair, layout) if has_better else []))
        if not system_pairs:
            empty = [Cell("") for _ in header[2:]]
            rows.append([Cell(name, heads_row=True), means[name], *empty])
    return Grid(header, rows)


def _pairs_by_system(comparison: Comparison, measure: str, layout: Layout) -> dict[str, list[Pair]]:
    """The pairs of each system with the baselines."""
    by_system: dict[str, list[Pair]] = {name: [] for name in layout.names}
    for pair in pairs_of(comparison, measure):
        by_system[pair.a].append(pair)
    return by_system


def _p_cell(layout: Layout, pair: Pair) -> Cell:
    return Cell(p_text(pair.p_adjusted), number=True, title=_tested(layout, pair))


def _counts(comparison: Comparison, pair: Pair, layout: Layout) -> list[Cell]:
    """The numbers of queries, and the symbol of a significant difference."""
    counts = "" if pair.wins is None else f"{pair.wins}/{pair.ties}/{pair.losses}"
    sign = _sign(comparison, pair)
    return [Cell(counts, number=True), Cell(("", *layout.symbols[:2])[sign], sign=sign)]


def _sign(comparison: Comparison, pair: Pair) -> int:
    """1 if a is significantly better than b, -1 if worse, else 0."""
    better = comparison.better(pair.measure)
    gain = float(gains(better, pair.difference, pair.statistic, comparison.settings))
    return bool(pair.p_adjusted <= comparison.alpha) * ((gain > 0) - (gain < 0))


def title_of(comparison: Comparison) -> str:
    """The title of a page."""
    title = f"Comparison of {', '.join(comparison.names)}"
    return title if len(title) <= 100 else f"Comparison of {len(comparison)} systems"


def interval_name(comparison: Comparison) -> str:
    """The name of the intervals, such as "95% interval"; empty without intervals."""
    return "" if comparison.interval == "none" else f"{100 * comparison.level:g}% interval"


def _diff_name(comparison: Comparison) -> str:
    name = interval_name(comparison)
    return f"diff [{name}]" if name else "diff"


def _legend(comparison: Comparison, layout: Layout) -> str:
    """What the letters, symbols and columns mean."""
    parts = [_queries(comparison)]
    if layout.percent:
        parts.append(IN_PERCENT)
    tested = _test_of(comparison, layout)
    if comparison.baseline:
        better, worse, _ = layout.symbols
        which = "the baseline" if len(comparison.baseline) > 1 else comparison.baseline[0]
        name = interval_name(comparison)
        interval_of = f", with its {name}{basis(comparison)}" if name else ""
        parts += [
            f"diff: difference from {which}{interval_of}.",
            f"{better} {worse}: significantly better, worse ({tested}).",
            f"+/=/-: {comparison.settings.unit.many} on which it is better, equal, worse.",
        ]
    elif layout.compact:
        parts.append(f"Systems that share a letter do not differ significantly ({tested}).")
    elif layout.letters:
        parts.append(f"Letters: significantly better than that system ({tested}).")
    return " ".join(parts)


def basis(comparison: Comparison) -> str:
    """The difference of an interval from the p-value beside it: its method, no correction."""
    if comparison.interval == "none":
        return ""
    same = OF_TESTS.get(comparison.test) == comparison.interval
    parts = [] if same else [METHOD_NAMES[comparison.interval]]
    parts += ["not corrected"] if comparison.is_corrected else []
    return f" ({', '.join(parts)})" if parts else ""


def _queries(comparison: Comparison) -> str:
    return f"{counted(len(comparison.queries), *comparison.settings.unit[:2])}."


def _test_of(comparison: Comparison, layout: Layout) -> str:
    return comparison.description().replace("≤", layout.symbols[2])


def columns_document(
    comparison: Comparison, show: str | Sequence[str], baseline_marks: Sequence[str], **options: Any
) -> Document:
    """One grid of all measures: for each of them the columns to show.

    With baselines, the mark of each is above the means that are significantly better, and below
    those that are significantly worse. Raises OptionError.
    """
    layout = layout_of(comparison, **options)
    shown = _checked_show(comparison, show)
    marks = _marks_of_baselines(comparison, baseline_marks)
    legend = _legend(comparison, layout)
    if marks:
        meanings = ", ".join(f"{mark} than {name}" for name, mark in marks.items())
        legend = (
            f"{_queries(comparison)} Significantly better (above) or worse (below): {meanings}"
            f" ({_test_of(comparison, layout)})."
        )
    grid = _columns(comparison, layout, shown, marks)
    return explained(comparison, [grid], legend)


def _checked_show(comparison: Comparison, show: str | Sequence[str]) -> tuple[str, ...]:
    shown = (show,) if isinstance(show, str) else tuple(show)
    for word in shown:
        check_choice("show", word, SHOWN)
    if "p" in shown and len(comparison.baseline) != 1:
        raise OptionError("show", "'p' needs one baseline")
    if "interval" in shown and not interval_name(comparison):
        raise OptionError("show", "'interval' needs intervals; compare with interval='t'")
    if "interval" in shown and len(comparison.baseline) > 1:
        raise OptionError("show", "'interval' needs one baseline, or all pairs")
    return shown


def _marks_of_baselines(comparison: Comparison, marks: Sequence[str]) -> dict[str, str]:
    """{baseline: mark}."""
    if isinstance(marks, str) or not all(isinstance(mark, str) for mark in marks):
        raise OptionError("baseline_marks", f"expected a list of marks, found {marks!r}")
    if len(marks) < len(comparison.baseline):
        raise OptionError(
            "baseline_marks",
            f"expected {len(comparison.baseline)}, one per baseline, found {len(marks)}",
        )
    return dict(zip(comparison.baseline, marks, strict=False))


def _column(
    comparison: Comparison, measure: str, kind: str, layout: Layout, marks: Mapping[str, str]
) -> tuple[str, dict[str, Cell]]:
    """The header and the cells of a column of a measure."""
    pairs = _pairs_by_system(comparison, measure, layout) if marks else {}
    if kind == "mean":
        cells = _cells_of_means(comparison, measure, layout)
        for name, system_pairs in pairs.items():
            signs = [(marks[pair.b], _sign(comparison, pair)) for pair in system_pairs]
            cells[name] = cells[name]._replace(
                marks=tuple(mark for mark, sign in signs if sign > 0),
                lower_marks=tuple(mark for mark, sign in signs if sign < 0),
            )
        return measure, cells
    if not marks:
        texts = {name: _interval_of(comparison, measure, name, layout) for name in layout.names}
        return interval_name(comparison), {
            name: Cell(text, number=True) for name, text in texts.items()
        }
    shown = {
        name: Cell(_difference(layout, system_pairs[0]), number=True)
        if kind == "interval"
        else _p_cell(layout, system_pairs[0])
        for name, system_pairs in pairs.items()
        if system_pairs
    }
    cells = {name: shown.get(name, Cell("")) for name in layout.names}
    return _diff_name(comparison) if kind == "interval" else "p", cells


def pairs_document(comparison: Comparison, **options: Any) -> Document:
    """A row for each pair and measure: difference, interval, p-value and counts."""
    layout = layout_of(comparison, **options)
    header = ["measure", "a", "b", "mean a", "mean b"]
    header += [_diff_name(comparison), "p", "+/=/-", "", "d_z"]
    pairs = [*pairs_of(comparison)]
    rows = [
        [
            Cell(pair.measure),
            Cell(pair.a),
            Cell(pair.b),
            *(Cell(layout.number(mean), number=True) for mean in (pair.mean_a, pair.mean_b)),
            Cell(_difference(layout, pair), number=True),
            _p_cell(layout, pair),
            *_counts(comparison, pair, layout),
            Cell(number(pair.effect), number=True),
        ]
        for pair in pairs
    ]
    if any(pair.note for pair in pairs):
        header.append("note")
        for row, pair in zip(rows, pairs, strict=True):
            row.append(Cell(pair.note))
    better, worse, _ = layout.symbols
    of_interval = f", its interval{basis(comparison)}" if basis(comparison) else ""
    legend = (
        f"{_queries(comparison)} diff: mean a - mean b{of_interval}. {better} {worse}: a is"
        f" significantly better, worse ({_test_of(comparison, layout)}). +/=/-:"
        f" {comparison.settings.unit.many} on which a is better, equal, worse."
    )
    return explained(comparison, [Grid(header, rows)], legend)


def standings_document(comparison: Comparison, *, digits: int | None = None) -> Document:
    """A row for each measure and system, best first, and on what each column is based."""
    unit = comparison.settings.unit
    resampled = unit.many if comparison.settings.clusters is None else "clusters"
    if comparison.analysis(comparison.measures[0]).paired.within is not None:
        resampled = f"data sets and the {unit.parts} of each"
    tested = comparison.description()
    legend = (
        f"{_queries(comparison)} low, high: {100 * comparison.level:g}% interval of the rank, from"
        f" resampled {resampled}, not corrected. group: systems that share a letter do not differ"
        f" significantly ({tested}). needed: {unit.many} to tell the system from the first (80%"
        " power, paired t-test, not corrected)."
    )
    legend = " ".join([legend, *(f"{text}." for text in separations(comparison))])
    return explained(comparison, [grid_of(all_standings(comparison, digits=digits))], legend)
