"""Load the scores of a store."""

from __future__ import annotations

import os
from contextlib import closing

from fastrank.arguments import DEFAULT_VERSION
from fastrank.errors import InputError, OptionError
from fastrank.formats.digests import exclusions_digest, judgments_digest
from fastrank.formats.inputs import as_qrels, run_names
from fastrank.formats.trec import python_warning
from fastrank.judging.evaluation_options import EVALUATION, EvaluationOptions
from fastrank.keywords import takes, with_defaults
from fastrank.measures.selection import Selection
from fastrank.plurals import counted
from fastrank.results_store.records import DEFAULTS, evaluation_of
from fastrank.results_store.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.formats.inputs import QrelsLike
    from fastrank.measures.selection import Measures
    from fastrank.scores.scores import Scores

# The number of digits of a digest that messages show.
SHOWN = 8


@takes(EvaluationOptions, EVALUATION)
def load_scores(
    store: str | os.PathLike[str],
    *,
    group: str | None = None,
    qrels: QrelsLike | None = None,
    measures: Measures | None = None,
    **options: Unpack[EvaluationOptions],
) -> dict[str, Scores]:
    """Load the scores that `fastrank eval --resume STORE` has stored.

    store: the file.
    group, qrels, measures: needed if the file has several evaluations: the beginning of the digest
        of one, as the error message lists them; or the judgments and measures, as `evaluate` takes
        them.
    **options: see `EvaluationOptions`; those that are given must be those of the evaluation.

    Returns {name: Scores} in the order in which the files were first stored, as `compare_scores`
    takes it, with the same numbers to the last bit, and the names that `evaluate` gives to these
    files. If a file was evaluated again because it had changed, only its newest scores are
    returned.

    Raises ReadError; InputError for a file that is not a store, and one without scores; OptionError
    if the file has several evaluations, or none that was asked for. Warns of damaged lines.

    >>> import subprocess, sys, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = f"{folder}/scores.jsonl"
    ...     command = f"fastrank eval -m map --resume {store} data/digits.qrels data/pca.run"
    ...     _ = subprocess.run([sys.executable, "-m", *command.split()], capture_output=True)
    ...     fr.load_scores(store)
    {'pca': <Scores of 'pca': 200 queries, 1 measure>}
    """
    with_defaults(load_scores, options)
    if group is not None and not isinstance(group, str):
        raise TypeError(f"group: expected str, found {type(group).__name__}")
    path = os.fspath(store)
    with closing(Store(path, append=False, warn=python_warning)) as opened:
        record = _chosen(opened, group, _wanted(qrels, measures, options))
        evaluation = evaluation_of(record, path)
        runs = opened.runs[record["group"]].files
        loaded = {file: opened.scores(entry, evaluation) for file, entry in runs.items()}
    return {
        name: scores.changed(given_name=name)
        for name, scores in zip(run_names(loaded), loaded.values(), strict=True)
    }


def _wanted(qrels: Any, measures: Measures | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the evaluation must have: the digest of its judgments, its measures and options."""
    version = options.get("trec_eval_version", DEFAULT_VERSION)
    wanted: dict[str, Any] = {}
    if qrels is not None:
        wanted["judgments"] = judgments_digest(as_qrels(qrels, trec_eval_version=version))
    if measures is not None:
        wanted["measures"] = _names(measures, version)
    for one in EVALUATION:
        if one.name in options:
            value = one.checked(options[one.name])
            wanted[one.name] = exclusions_digest(value) if one.name == "exclude" else value
    return wanted


def _properties(record: Mapping[str, Any]) -> dict[str, Any]:
    """What an evaluation has, as `_wanted` makes it."""
    return {
        **DEFAULTS, **record["options"],
        "trec_eval_version": record["compat"],
        "judgments": record["qrels"]["digest"],
        "measures": _names(record["measures"], record["compat"]),
    }  # fmt: skip


def _names(measures: Measures, version: str) -> set[bytes]:
    return {name for own in Selection(measures).bind(version) for name in own.canonical}


def _chosen(store: Store, group: str | None, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The description of the evaluation to load. Raises InputError and OptionError."""
    known = [record for own, record in store.evaluations.items() if store.runs.get(own)]
    if not known:
        raise InputError(store.path, "has no scores")
    if group is not None:
        found = [record for record in known if record["group"].startswith(group)]
    else:
        # Of evaluations that differ only in the version of fastrank, the newest is the last.
        newest = {_described(record): record for record in known}
        found = [
            record
            for record in newest.values()
            if not wanted or _properties(record).items() >= wanted.items()
        ]
    if len(found) == 1:
        return found[0]
    listed = "".join(
        f"\n  {own['group'][:SHOWN]}: {_described(own)};"
        f" {counted(len(store.runs[own['group']].files), 'run')}"
        for own in found or known
    )
    problem = "several evaluations; choose one" if found else "no such evaluation"
    raise OptionError("group", f"{store.path} has {problem}:{listed}")


def _described(record: Mapping[str, Any]) -> str:
    options = "".join(f", {name}={value!r}" for name, value in record["options"].items())
    digest = record["qrels"]["digest"][:SHOWN]
    return (
        f"{record['qrels'].get('file')} ({digest}), {' '.join(map(str, record['measures']))}"
        f"{options}, trec_eval {record['compat']}"
    )
