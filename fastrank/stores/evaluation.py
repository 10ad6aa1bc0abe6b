"""What the runs of an evaluation share: judgments, measures and options."""

from __future__ import annotations

import json
from hashlib import sha256
from importlib import import_module

from fastrank.data.texts import decoded
from fastrank.errors import FastrankError, InputError
from fastrank.formats.digests import exclusions_digest
from fastrank.judging.evaluation_options import EVALUATION, evaluation_options
from fastrank.judging.options import bind_measures
from fastrank.measures.selection import Selection
from fastrank.scores.tables import distinct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from fastrank.measures.binding import BoundMeasure

# The schema of the lines; its number increases when older versions cannot read them any more.
SCHEMA = "fastrank.scores/1"
DEFAULTS = {one.name: one.default for one in EVALUATION} | {"relevance_format": "qrels"}

SETTINGS = ("qrels", "measures", "options", "fastrank", "compat")
# What a line that describes an evaluation must have.
KINDS: dict[str, type] = {
    "compat": str, "fastrank": str, "group": str, "measures": list, "options": dict, "qrels": dict,
    "queries": list,
}  # fmt: skip


class Evaluation:
    """An evaluation of runs on the same judgments, with the same measures and options.

    settings: what the file says of it, but for the queries. group: the digest of what determines
    the values. judged: the ids of the judged queries, in byte order as those of Scores. positive:
    for each the number of grades above zero, if a measure needs it. complete: whether means are
    over all judged queries. columns: the measures, and the names of their numbers per query.
    """

    def __init__(
        self,
        settings: dict[str, Any],
        bound: list[BoundMeasure],
        judged: Collection[bytes],
        positive: Iterable[int] | None,
    ) -> None:
        self.settings, self.bound = settings, bound
        self.judged = sorted(judged)
        self.positive: list[int] | None = None
        if positive is not None:
            found = dict(zip(judged, positive, strict=True))
            self.positive = [found[query] for query in self.judged]
        self.complete = settings["options"].get("missing") == "zero"
        self.group = group_of(settings, bound)
        self.places = list(range(len(self.judged)))
        self.columns = _columns(bound)

    def without(self, queries: Collection[bytes]) -> list[bytes]:
        """The other judged queries, in byte order."""
        if len(queries) == len(self.judged):
            return []
        known = set(queries)
        return [query for query in self.judged if query not in known]

    def places_without(self, queries: Collection[bytes]) -> list[int]:
        """The indexes of the other judged queries."""
        known = set(queries)
        return [place for place, query in enumerate(self.judged) if query not in known]

    def to_record(self) -> dict[str, Any]:
        """What `evaluation_of` takes."""
        record = {"schema": SCHEMA, "group": self.group, **self.settings}
        record["queries"] = list(map(decoded, self.judged))
        if self.positive is not None:
            record["positive"] = self.positive
        return record


def settings_of(
    qrels: str, digest: str, measures: Sequence[str], options: Mapping[str, Any]
) -> dict[str, Any]:
    """What a store says of an evaluation.

    qrels, digest: the file and the digest of the judgments. measures: as requested. options: all
    those of `evaluate`, and relevance_format; the default ones are omitted.
    """
    given = {**options, "exclude": exclusions_digest(options["exclude"])}
    version = given.pop("trec_eval_version")
    return {
        "qrels": {"file": qrels, "digest": digest},
        "measures": list(measures),
        "options": {name: value for name, value in given.items() if value != DEFAULTS[name]},
        # By name: an import statement would break the order of the packages.
        "fastrank": import_module("fastrank").__version__,
        "compat": version,
    }


def group_of(settings: Mapping[str, Any], bound: list[BoundMeasure]) -> str:
    """A digest of all that determines the values; a version of fastrank may correct some."""
    measures = [[[*map(decoded, own.names)], list(own.numbers), own.pairs] for own in bound]
    known = [
        settings[name] if name != "qrels" else settings[name]["digest"]
        for name in ("qrels", "options", "fastrank", "compat")
    ]
    text = json.dumps([SCHEMA, known, measures], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def check_record(record: dict[str, Any]) -> None:
    """Raise KeyError or TypeError unless `evaluation_of` can take a record."""
    for name, kind in KINDS.items():
        if not isinstance(record[name], kind):
            raise TypeError(name)
    if not isinstance(record["qrels"]["digest"], str):
        raise TypeError("digest")


def evaluation_of(record: dict[str, Any], source: str) -> Evaluation:
    """The evaluation that a line of a store describes.

    Raises InputError for measures or options that this version lacks.
    """
    settings = {name: record[name] for name in SETTINGS}
    given = settings["options"] | {"trec_eval_version": settings["compat"], "exclude": None}
    try:
        bound = bind_measures(Selection(settings["measures"]), evaluation_options(given))
    except (FastrankError, TypeError) as error:
        reason = f"written by fastrank {settings['fastrank']}, and not understood: {error}"
        raise InputError(source, reason) from None
    judged = [query.encode("utf-8", "surrogateescape") for query in record["queries"]]
    return Evaluation(settings, bound, judged, record.get("positive"))


def _columns(bound: list[BoundMeasure]) -> list[tuple[BoundMeasure, list[str]]]:
    """Each measure, with a name for each of its numbers per query."""
    names = []
    for own in bound:
        printed = [decoded(name) for name in own.names]
        # Some measures also keep numbers that only their summary needs.
        names += printed + [f"{printed[0]}.{j}" for j in range(len(printed), own.width)]
    unique = iter(distinct(names))
    return [(own, [next(unique) for _ in range(max(own.width, len(own.names)))]) for own in bound]
