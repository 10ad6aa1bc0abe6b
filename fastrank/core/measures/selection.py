"""Turn requested names, nicknames and parameter lists into measures with parameters."""

from __future__ import annotations

import os

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.c_numbers import atof, atol
from fastrank.core.measures.bound import bind_trec, split_trec
from fastrank.core.measures.trec import BY_NAME, MEASURES, NICKNAMES
from fastrank.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias, TypeVar

    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.measures.notation import MeasureSpec
    from fastrank.core.measures.trec import Measure

    OneMeasure: TypeAlias = str | MeasureSpec | Callable[..., float]
    """A name such as `"nDCG@10"`, or several names separated by blanks; a measure that is parsed,
    or an object of ir_measures; or a function that `fastrank.measure` has made a measure."""
    Asked = TypeVar("Asked")
    Measures: TypeAlias = OneMeasure | Iterable[OneMeasure]
    """One measure or several. Sets such as `"official"` are names, too: see
    [Sets of measures](../measures.md#sets-of-measures)."""


# The measures of functions and commands other than `evaluate`, `fastrank eval` and `trec_eval`.
DEFAULT_MEASURES = "map ndcg_cut.10 P.10"
# Kinds of parameters that can be requested one by one.
LISTS = ("cutoffs", "recalls")


def reusable(measures: Asked) -> Asked:
    """The measures, in a list if they are an iterator, which can be read only once."""
    return list(measures) if hasattr(measures, "__next__") else measures  # type: ignore[call-overload]


class Selection:
    """The requested measures and their parameters.

    A name requested twice is computed once. Parameters (`P.5`) replace the default ones of a
    measure requested by a nickname, as in trec_eval. Otherwise all requests are combined
    (`P P.7 P.8 P_9`), or raise an error if that is impossible (`ndcg.1=2 ndcg.1=3`). trec_eval's
    measures come first, in its order, then the others in the requested order, each named as
    requested.

    original: accept trec_eval's measures only in its own notation, and use the first of several
    lists of parameters, as its command line does.
    """

    def __init__(
        self, specifications: Measures | Iterable[object] = (), *, original: bool = False
    ) -> None:
        if isinstance(specifications, str) or not hasattr(specifications, "__iter__"):
            specifications = [specifications]
        self._original = original
        # Names and nicknames in trec_eval's notation, and all lists of parameters of a name.
        self._named: set[str] = set()
        self._parameters: dict[str, list[str]] = {}
        # The requests in order: trec_eval's names with parameters, and other measures.
        self._asked: list[tuple[str, str | None] | MeasureSpec] = []
        for specification in specifications:
            if isinstance(specification, str) and not original:
                for text in split_texts(specification):
                    self.add(text)
            else:
                self.add(specification)
        if not original and not self._asked:
            raise MeasureError("", "expected a measure, found none")

    def __bool__(self) -> bool:
        return bool(self._asked)

    def add(self, specification: object) -> None:
        """Add one measure in any notation, or a nickname. Raises MeasureError, TypeError."""
        if isinstance(specification, str):
            text = specification if self._original else specification.strip()
            trec = split_trec(text, strict=not self._original)
            if trec is not None:
                self._add_trec(*trec)
                return
        # Imported late: the trec_eval command rarely needs other notations.
        from fastrank.core.measures import notation

        if not self._original or not isinstance(specification, str):
            self._add_spec(notation.parse_measure(specification))
            return
        spec = notation.parse_family(specification, aliases=False)
        if spec is None:
            _refuse_several(specification)
            raise notation.unknown_measure(specification.partition(".")[0], _parse_original)
        self._add_spec(spec)

    def _add_trec(self, name: str, parameters: str | None, *, printed: bool = False) -> None:
        """Add a measure or a nickname of trec_eval. printed: named as its values, as in `P_9`."""
        self._asked.append((name, parameters))
        if not printed:
            self._named.add(name)
        lists = self._parameters.setdefault(name, [])
        if parameters is not None and parameters not in lists:
            lists.append(parameters)

    def _add_spec(self, spec: MeasureSpec) -> None:
        if not spec.asked or spec.name in NICKNAMES:
            printed = spec.parameters is not None and BY_NAME[spec.name].takes in LISTS
            self._add_trec(spec.name, spec.parameters, printed=printed)
            return
        for request in self._others():
            if request == spec and request.asked == spec.asked:
                if request.family is not spec.family:
                    raise MeasureError(spec.name, f"two functions have the name '{spec.name}'")
                return
        self._asked.append(spec)

    def _others(self) -> list[MeasureSpec]:
        """The measures whose values are named as they were written."""
        return [asked for asked in self._asked if not isinstance(asked, tuple)]

    def measures(self, trec_eval_version: str) -> list[Measure]:
        """The requested measures, in the order of the table."""
        has_sets = not self._named.isdisjoint(NICKNAMES)
        chosen = [
            measure
            for measure in MEASURES
            if measure.name in self._parameters
            or (has_sets and self._is_in_set(measure, trec_eval_version))
        ]
        for spec in self._others():
            family = spec.family
            if family is not None and family not in chosen:
                chosen.append(family)
        return chosen

    def _is_in_set(self, measure: Measure, trec_eval_version: str) -> bool:
        """Whether a measure is requested by a nickname that includes it."""
        is_known = measure.since == DEFAULT_VERSION or trec_eval_version != DEFAULT_VERSION
        return is_known and not self._named.isdisjoint(measure.sets)

    def bind(
        self, trec_eval_version: str, *, keep: Callable[[BoundMeasure], bool] | None = None
    ) -> list[BoundMeasure]:
        """The requested measures with parameters. Raises MeasureError for invalid ones.

        keep: a filter for measures that were requested only by a nickname.
        """
        bound = [
            bind_trec(measure, self._text(measure, trec_eval_version), trec_eval_version)
            for measure in self.measures(trec_eval_version)
            if BY_NAME.get(measure.name) is measure
        ]
        if keep is not None:
            bound = [
                bound_measure
                for bound_measure in bound
                if bound_measure.measure.name in self._parameters or keep(bound_measure)
            ]
        if self._original:
            return bound + [spec.bind(trec_eval_version) for spec in self._others()]
        return self._in_order(bound, trec_eval_version)

    def _in_order(self, bound: list[BoundMeasure], trec_eval_version: str) -> list[BoundMeasure]:
        """These and all other measures, with the position at which each name was requested."""
        others: list[BoundMeasure] = []
        measures: dict[str, int] = {}
        names: dict[bytes, int] = {}
        for position, asked in enumerate(self._asked):
            if not isinstance(asked, tuple):
                bound_measure = asked.bind(trec_eval_version)
                others.append(bound_measure.changed(places=[position] * len(bound_measure.names)))
                continue
            name, parameters = asked
            if name in NICKNAMES:
                for measure in MEASURES:
                    if name in measure.sets:
                        measures.setdefault(measure.name, position)
            elif parameters is None or BY_NAME[name].takes not in LISTS:
                measures.setdefault(name, position)
            else:
                for printed in bind_trec(BY_NAME[name], parameters, trec_eval_version).names:
                    names.setdefault(printed, position)
        last = len(self._asked)
        ordered: list[BoundMeasure] = []
        for bound_measure in bound:
            whole = measures.get(bound_measure.measure.name, last)
            positions = [min(names.get(printed, last), whole) for printed in bound_measure.names]
            ordered.append(bound_measure.changed(places=positions))
        return ordered + others

    def _text(self, measure: Measure, trec_eval_version: str) -> str | None:
        """All requested parameters of a measure, combined."""
        name, lists = measure.name, list(self._parameters.get(measure.name, ()))
        if not lists or self._original:
            return lists[0] if lists else None
        bare = (name, None) in self._asked
        if measure.takes not in LISTS and bare + len(lists) > 1:
            others = " and ".join([name] * bare + [f"{name}.{items}" for items in lists])
            raise MeasureError(name, f"{others}: give the parameters of {name} only once")
        if bare or (name not in self._named and self._is_in_set(measure, trec_eval_version)):
            lists.insert(0, ",".join(f"{number:g}" for number in measure.default))
        if len(lists) == 1:
            return lists[0]
        items = ",".join(lists).split(",")
        read = atol if measure.takes == "cutoffs" else atof
        different = {read(os.fsencode(item)): item for item in reversed(items)}
        return ",".join(different[number] for number in sorted(different))


def _refuse_several(text: str) -> None:
    """Raise MeasureError for a string that contains several measures of trec_eval."""
    words = text.replace(",", " ").split()
    if len(words) > 1 and all(word.partition(".")[0] in (*BY_NAME, *NICKNAMES) for word in words):
        repeated = " ".join(f"-m {word}" for word in words)
        raise MeasureError(text, f"illegal measure '{text}'; repeat -m: {repeated}")


def _parse_original(text: str) -> None:
    """Raise MeasureError unless the trec_eval command accepts the measure."""
    Selection([text], original=True).bind(DEFAULT_VERSION)


def split_texts(text: str) -> list[str]:
    """The measures in a string, separated by blanks or commas."""
    if not set(text) & set("@({[,"):
        return text.split()
    from fastrank.core.measures.notation import split_measures

    return split_measures(text)
