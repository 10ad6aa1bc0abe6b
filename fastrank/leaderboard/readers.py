"""Read the results in a folder: runs with qrels, stores, MTEB's JSON, and CSV."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import closing

from fastrank.comparing.inputs import QUERY, SYSTEM
from fastrank.datasets.text_tables import delimited
from fastrank.errors import FormatError, InputError, MeasureError, ReadError
from fastrank.evaluation.evaluator import Evaluator
from fastrank.formats.digests import judgments_digest
from fastrank.formats.inputs import run_names
from fastrank.formats.load import read_qrels
from fastrank.formats.sites import is_site
from fastrank.formats.sniff import COMPRESSED, format_by_name
from fastrank.formats.source import read_all
from fastrank.formats.trec import python_warning
from fastrank.leaderboard.results import MEAN, Judgments, Result, same_measure
from fastrank.results_store.resuming import load_scores
from fastrank.results_store.store import START, Store
from fastrank.scores.columns import columns_by_name
from fastrank.scores.text import missing_note
from fastrank.tasks.mteb_files import read_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.leaderboard.results import Values
    from fastrank.scores.scores import Scores

# What the owner says of the data sets, at the top of the folder.
ABOUT = "datasets.csv"
# Files that are not results, by the beginning of their names.
OTHERS = ("readme", "license", "licence", "citation")
# The texts of a data set, beside its runs.
TEXTS = ("corpus.jsonl", "queries.jsonl")
META = "model_meta.json"
# Folders of MTEB that are revisions of a model, where no file says so.
REVISION = re.compile(r"[0-9a-f]{40}|no_revision_available|external|main|[0-9.]+")
# The names of the columns of a CSV file, by role.
COLUMNS = {
    "system": (*SYSTEM, "model"),
    "query": QUERY,
    "dataset": ("dataset", "task"),
    "value": ("value", "score"),
    "measure": ("measure", "metric"),
    "version": ("version",),
    "type": ("type", "kind"),
    "edition": ("dataset_version", "dataset_revision"),
}
ROLES = {name: role for role, names in COLUMNS.items() for name in names}
# Columns of tables of systems and data sets that follow from the others.
DERIVED = ("average", "avg", "mean", "rank")


def read_results(folder: str | os.PathLike[str], measure: str) -> Reader:
    """All results in a folder and the folders in it.

    measure: of the runs, and of files with several measures. Warns of files that are no results.
    Raises ReadError, FormatError, InputError, MeasureError, and what evaluating a run raises.
    """
    root = os.path.normpath(os.fspath(folder))
    if not os.path.isdir(root):
        reason = "is not a folder" if os.path.exists(root) else "no such folder"
        raise ReadError(root, reason)
    reader = Reader(root, measure)
    for path, folders, names in os.walk(root, onerror=_unreadable):
        if is_site(path):
            # It may have been written into the folder.
            folders.clear()
            continue
        folders[:] = sorted(own for own in folders if not own.startswith("."))
        reader.read(path, folders, sorted(own for own in names if _may_be_result(own)))
    unused = reader.about.keys() - {result.dataset for result in reader.results}
    for name in sorted(unused):
        python_warning(f"{os.path.join(root, ABOUT)}: no file has results on {name!r}")
    return reader


def _unreadable(error: OSError) -> None:
    raise ReadError(str(error.filename), (error.strerror or str(error)).lower()) from error


def _may_be_result(name: str) -> bool:
    lower = name.lower()
    return not lower.startswith((".", *OTHERS)) and not lower.endswith((".md", "~"))


class Reader:
    """Reads one folder after the other.

    results: all that were read. judgments: of the data sets with runs. notes: {data set: notes}.
    """

    def __init__(self, root: str, measure: str) -> None:
        self.root, self.measure = root, measure
        self.results: list[Result] = []
        self.judgments: dict[str, Judgments] = {}
        self.notes: dict[str, list[str]] = {}
        about = os.path.join(root, ABOUT)
        self.about = dict(_about(about)) if os.path.exists(about) else {}

    def read(self, folder: str, folders: list[str], names: list[str]) -> None:
        """Read the files of a folder; those of its folders that belong to it are left out."""
        qrels = [name for name in names if "qrel" in name.lower()]
        if "qrels" in folders:
            # The layout of BEIR.
            own = sorted(filter(_may_be_result, os.listdir(os.path.join(folder, "qrels"))))
            qrels += [os.path.join("qrels", name) for name in own]
            folders.remove("qrels")
        if len(qrels) > 1:
            raise InputError(
                folder, f"expected the qrels of one data set, found {', '.join(qrels)}"
            )
        runs = []
        for name in names:
            path = os.path.join(folder, name)
            if name in (ABOUT, META) or name in qrels or _is_text(name):
                continue
            if _is_store(path):
                self.results += self._of_store(path)
            elif qrels:
                runs.append(path)
            elif name.endswith(".json"):
                self.results.append(self._of_mteb(path))
            elif _without_compression(name).endswith((".csv", ".tsv")):
                self.results += self._of_table(path)
            elif format_by_name(name) is not None:
                reason = "a run without judgments: put the qrels into its folder"
                raise InputError(path, reason)
            else:
                python_warning(f"{path}: ignored; it is not a file of results")
        if qrels:
            self._of_runs(folder, qrels[0], runs, names)

    def _place(self, path: str) -> tuple[str, str]:
        """The data set of a folder or a file, whose name is without its suffixes, and its type.

        The type is the first of several folders.
        """
        if path == self.root:
            return os.path.basename(os.path.abspath(path)), ""
        parts = os.path.relpath(path, self.root).split(os.sep)
        if os.path.isfile(path):
            parts[-1] = run_names([parts[-1]])[0]
        return ("/".join(parts[1:]), parts[0]) if len(parts) > 1 else (parts[0], "")

    def _result(self, *given: Any, **named: Any) -> Result:
        """A result with what the owner says of its data set. Raises InputError without names."""
        made = Result(*given, **named)
        if not made.system or not made.dataset:
            what = "data set" if made.system else "system"
            raise InputError(made.source, f"a result of a {what} without a name")
        about = self.about.get(made.dataset, {})
        measure = made.measure or about.get("measure", "")
        return made._replace(type=about.get("type") or made.type, measure=measure)

    def _wanted(self, dataset: str) -> str:
        return self.about.get(dataset, {}).get("measure") or self.measure

    def _of_runs(self, folder: str, qrels: str, runs: list[str], names: list[str]) -> None:
        (dataset, kind), path = self._place(folder), os.path.join(folder, qrels)
        if not runs:
            python_warning(f"{folder}: ignored; it has judgments and no run")
            return
        judgments = read_qrels(path)
        digest = judgments_digest(judgments)
        measure = self._wanted(dataset)
        evaluator = Evaluator(judgments, measure, missing="zero")
        notes = self.notes.setdefault(dataset, [])
        for run, scores in zip(runs, evaluator.evaluate(runs), strict=True):
            system, version = _versioned(scores.name)
            if not scores.counts["evaluated_queries"]:
                raise InputError(run, f"has no query in common with {path}")
            self.results.append(
                self._result(
                    system,
                    version,
                    dataset,
                    kind,
                    *_per_query(scores, measure, run),
                    run,
                    edition=digest,
                    run=run,
                )
            )
            notes += missing_note(scores, scores.name)
        texts = [next((own for own in names if own.startswith(text)), "") for text in TEXTS]
        self.judgments[dataset] = Judgments(
            path, *(own and os.path.join(folder, own) for own in texts)
        )

    def _of_store(self, path: str) -> Iterator[Result]:
        of_file, kind = self._place(path)
        with closing(Store(path, append=False, warn=python_warning)) as store:
            known = list(store.evaluations.values())
        several = len({own["qrels"]["digest"] for own in known}) > 1
        taken: dict[str, str] = {}
        for own in known:
            name, group = os.path.basename(str(own["qrels"]["file"])), own["group"]
            dataset = run_names([name])[0] if several else of_file
            wanted, loaded = self._wanted(dataset), load_scores(path, group=group)
            if len(known) > 1 and not any(_columns(one, wanted) for one in loaded.values()):
                continue
            if dataset in taken:
                reason = f"{taken[dataset]} and {group} both have {wanted} on {dataset!r}"
                raise InputError(path, f"the evaluations {reason}; keep one of them in a store")
            taken[dataset] = group
            for name, scores in loaded.items():
                yield self._result(
                    *_versioned(name),
                    dataset,
                    kind,
                    *_per_query(scores, wanted, path),
                    path,
                    edition=own["qrels"]["digest"],
                )

    def _of_mteb(self, path: str) -> Result:
        found, folder = read_result(path), os.path.dirname(path)
        meta = os.path.join(folder, META)
        if os.path.exists(meta):
            try:
                known = json.loads(read_all(meta))
                model, version = str(known["name"]), str(known.get("revision") or "")
            except (AttributeError, KeyError, TypeError, ValueError):
                raise InputError(meta, "expected a JSON object with the name of a model") from None
        else:
            above, version = os.path.split(folder)
            if not REVISION.fullmatch(version) or folder == self.root:
                above, version = folder, ""
            model = os.path.basename(os.path.abspath(above)).replace("__", "/")
        return self._result(
            model,
            version,
            found.task,
            "",
            "main score",
            found.scores,
            path,
            edition=found.revision,
            of_subsets=True,
        )

    def _of_table(self, path: str) -> Iterator[Result]:
        """The results of a CSV file: a row for each value, or a column for each data set."""
        of_file, type_of_file = self._place(path)
        # {(data set, system, version): {measure: {query: value}}}
        found: dict[tuple[str, str, str], dict[str, Values]] = {}
        about: dict[str, tuple[str, str]] = {}
        for line, row, others in _rows(path):
            if "system" not in row:
                raise FormatError(path, 1, f"expected a column {' or '.join(COLUMNS['system'])}")
            if "value" in row:
                others = {row.get("dataset") or of_file: row["value"]}
            for dataset, text in others.items():
                if not text or dataset.lower() in DERIVED:
                    continue
                key, query = (
                    (dataset, row["system"], row.get("version", "")),
                    row.get("query", MEAN),
                )
                own = found.setdefault(key, {}).setdefault(row.get("measure", ""), {})
                if query in own:
                    what = f"query {query!r} of {dataset!r}" if query else repr(dataset)
                    raise FormatError(path, line, f"{row['system']!r} has a second value on {what}")
                own[query] = _number(text, path, line)
                kind = (row.get("type") or type_of_file, row.get("edition", ""))
                if about.setdefault(dataset, kind) != kind:
                    reason = f"{dataset!r} has another type or version than in the rows above"
                    raise FormatError(path, line, reason)
        for (dataset, system, version), measures in found.items():
            measure = _measure_of(list(measures), self._wanted(dataset), path)
            values, (kind_of, edition) = measures[measure], about[dataset]
            # A mean that is given beside the values of queries.
            if len(values) > 1:
                values.pop(MEAN, None)
            yield self._result(
                system, version, dataset, kind_of, measure, values, path, edition=edition
            )


def _is_text(name: str) -> bool:
    return _without_compression(name) in TEXTS


def _without_compression(name: str) -> str:
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return name


def _is_store(path: str) -> bool:
    if not path.endswith((".jsonl", ".ndjson", ".store")):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(START)) == START
    except OSError as error:
        raise ReadError(path, (error.strerror or str(error)).lower()) from error


def _versioned(name: str) -> tuple[str, str]:
    """The name of a system and its version, which follows an @."""
    system, _, version = name.rpartition("@")
    return (system, version) if system and version else (name, "")


def _columns(scores: Scores, wanted: str) -> list[str]:
    """The names of measures with values per query that are the wanted one."""
    names = [name for name, own in columns_by_name(scores).items() if own.values is not None]
    return [name for name in names if same_measure(name, wanted)]


def _per_query(scores: Scores, wanted: str, path: str) -> tuple[str, dict[str, float]]:
    """A measure, and its values, without those of queries that have none."""
    found = _columns(scores, wanted)
    measure = found[0] if found else _measure_of(scores.names, wanted, path)
    values = dict(zip(scores.queries, scores[measure].tolist(), strict=True))
    known = {query: value for query, value in values.items() if value == value}
    if not known:
        raise InputError(path, f"no query has a value of {measure}")
    return wanted if found else measure, known


def _measure_of(known: Sequence[str], wanted: str, path: str) -> str:
    """The wanted measure, or the only one. Raises MeasureError."""
    found = [name for name in known if same_measure(name, wanted)]
    if not found and len(known) != 1:
        raise MeasureError(wanted, f"{path}: has no {wanted}, but {', '.join(known)}; choose one")
    return found[0] if found else known[0]


def _about(path: str) -> Iterator[tuple[str, dict[str, str]]]:
    for _, row, others in _rows(path):
        if "dataset" not in row or others:
            found = f"found {', '.join([*row, *others])}"
            raise FormatError(path, 1, f"expected the columns dataset, type and measure, {found}")
        yield row["dataset"], row


def _rows(path: str) -> Iterator[tuple[int, dict[str, str], dict[str, str]]]:
    """The line, the cells by the roles of their columns, and those of other columns.

    Raises ReadError and FormatError.
    """
    for line, row in zip(*delimited(read_all(path), path), strict=True):
        known: dict[str, str] = {}
        others: dict[str, str] = {}
        for name, cell in row.items():
            role = ROLES.get(name.lower(), "")
            if role in known:
                raise FormatError(path, 1, f"two columns are the {role}")
            (known if role else others)[role or name] = cell.strip()
        yield line, known, others


def _number(text: str, path: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FormatError(path, line, f"expected a number, found {text!r}")
    return value
