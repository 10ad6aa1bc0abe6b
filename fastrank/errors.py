"""The exceptions of fastrank, which say where the error is and what was expected."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class FastrankError(ValueError):
    """Base class of all errors about input given to fastrank.

    >>> try:
    ...     fr.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "mapp")
    ... except fr.FastrankError as error:
    ...     print(error)
    unknown measure 'mapp'; did you mean map, AP or AP_IA?
    >>> issubclass(fr.FastrankError, ValueError)
    True
    """


class ReadError(FastrankError):
    """A file cannot be read. Attributes: `path` and `reason`.

    >>> fr.read_run("missing.run")
    Traceback (most recent call last):
    fastrank.errors.ReadError: missing.run: no such file or directory
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class FormatError(FastrankError):
    """A line of a file violates its format. Attributes: `path`, `line` (from 1), `reason`.

    >>> import io
    >>> fr.read_run(io.BytesIO(b"q1 Q0 d1 1 0.5 tag\\nq1 Q0 d2\\n"))
    Traceback (most recent call last):
    fastrank.errors.FormatError: <file object>:2: malformed line: expected at least 6 fields ...
    """

    def __init__(self, path: str, line: int, reason: str) -> None:
        super().__init__(path, line, reason)
        self.path = path
        self.line = line
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


class InputError(FastrankError):
    """An object is not valid judgments or a valid run. Attributes: `source` (its name), `reason`.

    >>> fr.Run.from_dict({"q1": {"d1": None}})
    Traceback (most recent call last):
    fastrank.errors.InputError: <dict>: query 'q1', document 'd1': expected a score, ...
    """

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(source, reason)
        self.source = source
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"


class OptionError(FastrankError):
    """An option is invalid or contradicts another. Attributes: `option` (its name), `reason`.

    >>> fr.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, ties="random")
    Traceback (most recent call last):
    fastrank.errors.OptionError: ties: expected one of 'docno_desc', ..., found 'random'
    """

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(option, reason)
        self.option = option
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.option}: {self.reason}"


class MeasureError(FastrankError):
    """A measure is unknown, or its parameters are invalid. Attributes: `measure` (name), `reason`.

    >>> fr.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "P_0")
    Traceback (most recent call last):
    fastrank.errors.MeasureError: 'P_0': a cutoff is a whole number of at least 1 ...
    """

    def __init__(self, measure: str, reason: str) -> None:
        super().__init__(measure, reason)
        self.measure = measure
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class EvaluationError(FastrankError):
    """A query cannot be evaluated.

    Attributes: `measure`, the first measure that fails; `query`; `reason`; `inconsistent`, true for
    preferences that contradict each other; `source`, the name of the judgments if these are wrong,
    else the empty string; `before`, the Scores of the queries before this one, or None.

    >>> import io
    >>> run = fr.read_run(io.BytesIO(b"q1 Q0 d1 1 0.5 tag\\nq1 Q0 d1 2 0.4 tag\\n"))
    >>> fr.evaluate({"q1": {"d1": 1}}, run, "map")
    Traceback (most recent call last):
    fastrank.errors.EvaluationError: query 'q1': duplicate docs d1, lines 1 and 2 of <file object>
    """

    before: Any = None
    source = ""

    def __init__(
        self, measure: str, query: bytes, reason: str, *, inconsistent: bool = False
    ) -> None:
        super().__init__(measure, query, reason)
        self.measure = measure
        self.query = query
        self.reason = reason
        self.inconsistent = inconsistent

    def __str__(self) -> str:
        return self.reason


class RunError(FastrankError):
    """One or more of several runs cannot be evaluated.

    Attributes of the first one: `run`, its name, path or position from 1; `reason`; `__cause__` is
    the original exception. Attributes of all: `scores`, a list with the Scores or None of each run;
    `errors`, {index of a run: its exception}. A run that has neither was not started, because the
    executor failed.

    >>> good, bad = {"q1": {"d1": 0.5}}, {"q2": {"d1": 0.5}}
    >>> try:
    ...     fr.evaluate({"q1": {"d1": 1}}, [good, bad], "map")
    ... except fr.errors.RunError as error:
    ...     print(error)
    ...     print(error.scores)
    run 2: the run and the qrels share no query ids ...
    [<Scores: 1 query, 1 measure>, None]
    """

    scores: list[Any]
    errors: dict[int, Exception]

    def __init__(self, run: str, reason: str) -> None:
        super().__init__(run, reason)
        self.run = run
        self.reason = reason
        self.scores, self.errors = [], {}

    def __str__(self) -> str:
        return f"{self.run}: {self.reason}"


class TaskError(FastrankError):
    """A task of `evaluate_tasks` or a data set of `evaluate_model` is invalid or fails.

    Attributes: `task` and `model`, their names, the latter None before any text is encoded and for
    data sets; `reason`; and `before`, the TaskResults of the tasks or {name: Scores} of the data
    sets that are evaluated, or None. `__cause__` is the original exception.

    >>> similar = fr.Task("similarity", (["a man eats"], ["someone eats"], ["very"]))
    >>> fr.evaluate_tasks(lambda texts: [[len(text), 1] for text in texts], {"STS": similar})
    Traceback (most recent call last):
    fastrank.errors.TaskError: task 'STS': scores[0]: expected a number, found str: 'very'
    """

    before: Any = None

    def __init__(self, task: str, model: str | None, reason: str) -> None:
        super().__init__(task, model, reason)
        self.task = task
        self.model = model
        self.reason = reason

    def __str__(self) -> str:
        model = "" if self.model is None else f", model {self.model!r}"
        return f"task {self.task!r}{model}: {self.reason}"


class NoQueriesError(FastrankError):
    """No query has both judgments and results.

    >>> fr.evaluate({"q1": {"d1": 1}}, {"q2": {"d1": 0.5}}, "map")
    Traceback (most recent call last):
    fastrank.errors.NoQueriesError: the run and the qrels share no query ids ...
    """


class GroupError(FastrankError):
    """Scores cannot be grouped, averaged or combined in a table.

    >>> fr.mean_over_datasets([])
    Traceback (most recent call last):
    fastrank.errors.GroupError: mean_over_datasets: expected at least one Scores, found none
    """


class ArrayError(FastrankError):
    """An array or list contains an invalid value.

    Attributes: `name` of the argument, `reason`, and the place: `row` and `column`, from 0, each
    None if not applicable.

    >>> fr.evaluate_arrays([{7: 1}], [[3, 7, 3]], None, "map")
    Traceback (most recent call last):
    fastrank.errors.ArrayError: ids[0, 2]: query '0': document 3 is retrieved twice, ...
    """

    def __init__(
        self, name: str, reason: str, row: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(name, reason, row, column)
        self.name = name
        self.reason = reason
        self.row = row
        self.column = column

    def __str__(self) -> str:
        position = ", ".join(
            str(number) for number in (self.row, self.column) if number is not None
        )
        return f"{self.name}{position and f'[{position}]'}: {self.reason}"


class EngineError(RuntimeError):
    """The engine asked for with FASTRANK_ENGINE does not exist or cannot be used.

    >>> issubclass(fr.errors.EngineError, RuntimeError)
    True
    """
