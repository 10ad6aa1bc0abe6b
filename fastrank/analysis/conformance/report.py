"""Which mistakes explain the answers of a program."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import chain
from typing import NamedTuple

from fastrank.analysis.conformance.asking import Answer
from fastrank.analysis.conformance.cases import agree, all_cases, mistakes
from fastrank.common.messages import counted, first_few
from fastrank.common.rendering.document import Document, Paragraph, Section
from fastrank.common.rendering.numbers import number
from fastrank.core.data.columns import Frozen
from fastrank.core.results.result import Result
from fastrank.core.results.table import Table, table_of_rows
from fastrank.errors import FastrankError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import TypeAlias

    from fastrank.analysis.conformance.cases import Case

    # The cases with answers.
    Answered: TypeAlias = "Sequence[tuple[Case, Answer]]"


class Diagnosis(NamedTuple):
    """A mistake, and the cases that show it.

    mistake, right: in words. measures: in which it is made. cases, of: how many cases show it, and
    could. case: an example. value, problem: of the example, NaN and why. expected: its first right
    value. name: of the mistake; empty for answers that no known mistake explains. also: the cases
    that show it besides the example.
    """

    mistake: str
    measures: str
    cases: int
    of: int
    case: str
    value: float
    problem: str
    expected: float
    right: str
    name: str
    also: str

    def section(self) -> Section:
        """The mistake as a heading, with what explains it."""
        problem = f" ({self.problem})" if self.problem and self.name else ""
        value = f"no value{problem}" if math.isnan(self.value) else number(self.value)
        (case,) = (case for case in all_cases() if case.case == self.case)
        expected = " or ".join(map(number, case.right_values()))
        example = f"{json.dumps(case.question())}: {value}, expected {expected}"
        name = f" [{self.name}]" if self.name else ""
        also = "" if name or not self.also else f" Also: {first_few(self.also.split(', '), 12)}."
        return Section(
            f"{self.mistake}: {self.cases} of {counted(self.of, 'case')}{name}",
            [
                Paragraph(f"In {self.measures}. Example: {example}.{also}", "note"),
                *([Paragraph(f"Right: {self.right}.", "note")] if self.right else []),
            ],
        )


class Conformance(Result, Frozen):
    """What the answers of a program to the cases show.

    mistakes: those that explain the wrong answers, without those to be ignored. cases: how many
    should have been answered. right: how many were answered rightly. skipped: {measure that the
    program lacks: number of its cases}.
    """

    mistakes: list[Diagnosis]
    cases: int
    right: int
    skipped: dict[str, int]

    def __repr__(self) -> str:
        return f"<Conformance: {counted(len(self.mistakes), 'mistake')}>"

    def table(self) -> Table:
        """A row for each mistake."""
        return table_of_rows(Diagnosis._fields, self.mistakes)

    def _content(self) -> object:
        counts = {"cases": self.cases, "right": self.right, "skipped": self.skipped}
        return {**counts, "mistakes": self.table()}

    def _document(self) -> Document:
        cases = counted(self.cases, "case")
        total = f"{counted(len(self.mistakes), 'mistake')}; {self.right} of {cases} right"
        skipped = ", ".join(f"{measure} ({count})" for measure, count in self.skipped.items())
        notes = [Paragraph(f"Skipped, with their cases: {skipped}.", "note")] if skipped else []
        return Document(
            [*(mistake.section() for mistake in self.mistakes), Paragraph(f"{total}."), *notes]
        )


def diagnosed(
    cases: Sequence[Case], answers: Sequence[Answer], ignored: Collection[str] = ()
) -> Conformance:
    """The fewest mistakes that explain the wrong answers.

    ignored: names of mistakes to ignore. Raises FastrankError if no answer has a value.
    """
    if all(answer.value is None for answer in answers):
        problems = [answer.problem for answer in answers if answer.problem]
        raise FastrankError(f"no case has a value: {[*problems, 'all measures are lacking'][0]}")
    pairs = list(zip(cases, answers, strict=True))
    skipped = Counter(case.measure for case, answer in pairs if answer == Answer())
    pairs = [pair for pair in pairs if pair[1] != Answer()]
    wrong = [pair for pair in pairs if not _is_right(*pair)]
    values = {answer.value for _, answer in pairs}
    if len(values) == 1 < len({value for case, _ in pairs for value in case.right_values()}):
        explained = dict.fromkeys((case.case for case, _ in wrong), "all values are the same")
    else:
        explained = _explained(pairs, wrong)
    groups: dict[str, list[tuple[Case, Answer]]] = {}
    for case, answer in wrong:
        name = explained.get(case.case) or _unexplained(case, answer)
        groups.setdefault(name, []).append((case, answer))
    return Conformance(
        mistakes=[
            _diagnosis(name, groups[name], pairs)
            for name in sorted(groups, key=lambda name: name not in mistakes())
            if name not in ignored
        ],
        cases=len(pairs),
        right=len(pairs) - len(wrong),
        skipped=dict(skipped),
    )


def _is_right(case: Case, answer: Answer) -> bool:
    if answer.value is None:
        return answer.is_error and None in case.right.values()
    return any(agree(answer.value, right) for right in case.right_values())


def _unexplained(case: Case, answer: Answer) -> str:
    """What is known of an answer that no mistake explains."""
    if answer.value is None:
        return f"no value ({answer.problem})"
    for right in case.right_values():
        # Rounding to two decimals moves a value by 0.005 at most.
        if abs(answer.value - right) <= 0.00501:
            return "values that are right to two or three decimals; four are compared"
        if agree(answer.value / 100, right):
            return "values that are right as percentages"
    return "values that no known mistake alone explains"


def _explained(pairs: Answered, wrong: Answered) -> dict[str, str]:
    """The mistakes that explain the answers, by the names of the cases.

    A mistake is assumed in one measure at a time, the one that explains the most answers first, and
    among these the one that explains more in all. Other answers to cases that would show it are
    evidence against it: a mistake that shows in a third of its cases or fewer is not assumed.
    """
    # If a measure never has a value, no case tells why.
    with_values = {case.measure for case, answer in pairs if answer.value is not None}
    shown = {
        case.case: [(mistake, case.measure) for mistake in case.mistakes(answer.value)]
        for case, answer in wrong
        if case.measure in with_values
    }
    could = Counter((mistake, case.measure) for case, _ in pairs for mistake in case.wrong)
    showing = Counter(chain.from_iterable(shown.values()))
    in_all = Counter(mistake for causes in shown.values() for mistake, _ in causes)
    aims = {(case.finds, case.measure) for case, _ in wrong}
    explained: dict[str, str] = {}
    while True:
        rest = {name: causes for name, causes in shown.items() if name not in explained}
        weights = {
            cause: (count + showing[cause] - could[cause], in_all[cause[0]], cause in aims)
            for cause, count in Counter(chain.from_iterable(rest.values())).items()
            if 3 * showing[cause] > could[cause]
        }
        if not weights:
            return explained
        best = max(weights, key=weights.__getitem__)
        explained |= {name: best[0] for name, causes in rest.items() if best in causes}


def _diagnosis(name: str, group: Answered, pairs: Answered) -> Diagnosis:
    """A mistake, or what no mistake explains, with the answers that show it."""
    measures = dict.fromkeys(case.measure for case, _ in group)
    could = group
    if name in mistakes():
        could = [pair for pair in pairs if pair[0].measure in measures and name in pair[0].wrong]
        group = [pair for pair in could if name in pair[0].mistakes(pair[1].value)]
    # The example is for this mistake, if there is one.
    case, answer = max(group, key=lambda pair: pair[0].finds == name)
    mistake, right = mistakes().get(name, (name, ""))
    return Diagnosis(
        mistake=mistake,
        measures=", ".join(measures),
        cases=len(group),
        of=len(could) if right else len(pairs),
        case=case.case,
        value=math.nan if answer.value is None else answer.value,
        problem=answer.problem,
        expected=case.right_values()[0],
        right=right,
        name=name if right else "",
        also=", ".join(own.case for own, _ in group if own is not case),
    )
