"""The measures of retrieved text: records and notation."""

from __future__ import annotations

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.messages import closest, did_you_mean
from fastrank.core.measures.measure_options import Family, Option
from fastrank.core.measures.notation import parse_family, split_measures
from fastrank.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from fastrank.core.measures.bound import BoundMeasure

UNITS = {"c": "characters", "t": "tokens"}
# Without a cutoff.
UNLIMITED = 2**62


class Budget(Option):
    """The option of a cutoff: a rank, or a number of characters or tokens such as 4000c."""

    def read(self, text: str) -> Any:
        """A whole number, or a str with the unit. Raises ValueError."""
        unit = text[-1:] if text[-1:] in UNITS else ""
        try:
            number = super().read(text.removesuffix(unit))
        except ValueError as error:
            raise ValueError(f"{error}, or one such as 4000c (characters) or 1000t") from None
        return f"{number}{unit}" if unit else number

    def write(self, value: Any) -> str:
        """The value as `read` parses it."""
        return str(value)


CUTOFF = Budget(
    name="cutoff",
    kind="rank",
    help="the first k chunks; or so many characters (4000c) or tokens (1000t) of the first chunks",
)
REPEATED = Option(
    name="repeated",
    kind="flag",
    default=False,
    help="count text that is in several retrieved chunks as often, as the published code does",
)
SOURCE = (
    "\nSource: Smith and Troynikov, 'Evaluating chunking strategies for retrieval', Chroma 2024."
)


def _family(name: str, help_: str, *options: Option, **facts: Any) -> Family:
    return Family(
        name=name,
        kernel="",
        needs="spans",
        help=help_ + SOURCE,
        reaches_one=True,
        options={option.name: option for option in options},
        at="cutoff" if options else "",
        **facts,
    )


SPAN_MEASURES = (
    _family("SpanRecall", "Share of the characters of the evidence that were retrieved.", CUTOFF),
    _family(
        "SpanPrecision", "Share of the retrieved characters that are evidence.", CUTOFF, REPEATED
    ),
    _family(
        "SpanIoU",
        "Characters of the evidence that were retrieved, divided by those that were\n"
        "retrieved or are evidence.",
        CUTOFF,
        REPEATED,
    ),
    _family("SpanF1", "Harmonic mean of SpanRecall and SpanPrecision.", CUTOFF, REPEATED),
    _family(
        "SpanPrecisionOmega",
        "SpanIoU of all chunks that overlap or touch the evidence: the best\n"
        "precision with full recall that the chunks allow. It does not depend on the run.",
        without_results="judgments",
    ),
)
BY_NAME = {family.name.lower(): family for family in SPAN_MEASURES}


def bind_span_measures(measures: str | Iterable[str]) -> list[BoundMeasure]:
    """The measures of these names. Raises MeasureError, and TypeError for other objects."""
    names = [measures] if isinstance(measures, str) else list(measures)
    bound: dict[str, BoundMeasure] = {}
    for text in names:
        if not isinstance(text, str):
            raise TypeError(f"measures: expected str, found {type(text).__name__}")
        for name in split_measures(text):
            spec = parse_family(name, aliases=True, families=BY_NAME)
            if spec is None:
                family_names = [family.name for family in SPAN_MEASURES]
                near = closest(name.partition("@")[0].partition("(")[0], family_names)
                hint = did_you_mean(near) or f"; expected {', '.join(family_names)}"
                raise MeasureError(name, f"unknown measure of spans '{name}'{hint}")
            bound.setdefault(str(spec), spec.bind(DEFAULT_VERSION))
    if not bound:
        raise MeasureError("", "expected at least one measure, found none")
    return list(bound.values())


def budget_of(bound: BoundMeasure) -> tuple[int, str]:
    """The cutoff of a measure, and its unit, empty for ranks."""
    cutoff = (bound.options or {}).get("cutoff", UNLIMITED)
    return (int(cutoff[:-1]), cutoff[-1]) if isinstance(cutoff, str) else (cutoff, "")
