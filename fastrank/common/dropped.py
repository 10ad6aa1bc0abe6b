"""Names that went before the first release, and what to use instead: for that release only.

To delete this: the module, its test, and the lines of the others that import it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Target = TypeVar("Target", bound=Callable[..., Any])

MATPLOTLIB = "matplotlib, with what `to_pandas` returns"
MTEB = "the package mteb"
OF_JUDGES = "`fastrank eval` with the qrels of each judge, and `fastrank agree --systems`"
SENTEVAL = "mteb or SentEval; the protocol here is that of Ulysses SentEval"
RANKING = "fastrank.compat.retrieved.results_to_run and fr.evaluate"
PLOTS = dict.fromkeys(("distribution", "p-values", "power", "values"), MATPLOTLIB)
PROTOCOL = {
    "classifier": SENTEVAL,
    "dev": SENTEVAL,
    "experiments": SENTEVAL,
    "neighbors": SENTEVAL,
    "protocol": SENTEVAL,
    "samples_per_label": SENTEVAL,
    "test": SENTEVAL,
}
MODULES = {"llama_index": RANKING, "mlflow": RANKING, "ragas": RANKING}
# The replacements of what was there, by its owner: commands and attributes, flags of a command,
# values of a flag or an option, and parameters of a function.
DROPPED: dict[str, dict[str, str]] = {
    "commands": {
        "board": "fr.compare_datasets",
        "probe": "fr.tasks.evaluate_classification, or the package mteb",
    },
    "fastrank eval": {"--resume": "`-q -o RUN.csv` for each run, and fr.compare_scores of these"},
    "fastrank explain": {"--documents": "--texts"},
    "fastrank hard-negatives": {"--corpus": "--texts"},
    "fastrank spans": {"--documents": "--texts"},
    "fastrank judges": dict.fromkeys(("--run", "--measure", "-m", "--own-family"), OF_JUDGES),
    "fastrank measures": {"--format": "its text, or fr.MEASURES"},
    "fastrank gate check --format": {
        "junit": "pytest --junitxml and fr.testing.assert_no_regression",
        "openmetrics": "json",
    },
    "fastrank compare --plot-kind": PLOTS,
    "test": {"tukey-anova": "'tukey'"},
    "kind": PLOTS,
    "fastrank": {
        "board": "fr.compare_datasets",
        "engine": "fr.testing.engine",
        "explain_options": "fr.explain(against=)",
        "load_scores": "`fastrank eval -q --format csv` and pandas.read_csv",
        "parse_measure": "fastrank.core.measures.notation.parse_measure",
        "read_zscores": "fastrank.core.scores.differences.read_zscores",
        "reproduce": "the package repro_eval",
        "run_metadata": "fastrank.core.formats.trec.runs.run_metadata",
        "standardize": "scipy.stats.zscore",
        "write_zscores": "fastrank.core.scores.differences.write_zscores",
    },
    "fastrank.compat": MODULES,
    "fastrank.tasks": {
        "adjusted_mutual_info": "sklearn.metrics.adjusted_mutual_info_score",
        "completeness": "sklearn.metrics.completeness_score",
        "evaluate_clustering": MTEB,
        "evaluate_multilabel": MTEB,
        "evaluate_regression": MTEB,
        "evaluate_summarization": MTEB,
        "homogeneity": "sklearn.metrics.homogeneity_score",
        "kendall": "scipy.stats.kendalltau",
        "v_measure": "sklearn.metrics.v_measure_score",
    },
    "fastrank.types": {"Board": "fr.types.Comparison", "SystemsUnderJudges": OF_JUDGES},
    "Comparison": {
        "anova": "pingouin.rm_anova",
        "bayes": "scipy.stats.t, with `difference` and `sd` of `pairs`",
        "discriminative_power": "`pairs`: the share of p_adjusted up to alpha",
        "equivalent": "statsmodels.stats.weightstats.ttost_paired",
    },
    "JudgeAgreement": {"systems": OF_JUDGES},
    "TaskResults": {"to_mteb": "`table`, or the package mteb"},
    "Task": dict.fromkeys(("clustering", "multilabel", "regression", "summarization"), MTEB),
    "Task 'classification'": PROTOCOL,
    "evaluate_classification": PROTOCOL,
    "judge_agreement": dict.fromkeys(("families", "measures", "runs"), OF_JUDGES),
    "Comparison.report": dict.fromkeys(("depth", "documents", "queries"), "fr.inspect"),
}


def instead(owner: str, name: object) -> str:
    """The end of an error about a name its owner once had: `; it is gone: use X`, or nothing."""
    remedy = DROPPED.get(owner, {}).get(str(name))
    return "" if remedy is None else f"; it is gone: use {remedy}"


def without_dropped(function: Target) -> Target:
    """Decorate a function that took more parameters."""
    from functools import wraps

    name = function.__qualname__

    @wraps(function)
    def checked(*arguments: object, **options: object) -> object:
        for option in DROPPED[name].keys() & options:
            wrong = f"{name}() got an unexpected keyword argument {option!r}"
            raise TypeError(wrong + instead(name, option))
        return function(*arguments, **options)

    return checked  # type: ignore[return-value]


class Finder:
    """Finds no module: what comes last in `sys.meta_path` says what to import instead.

    `from fastrank import NAME` looks for a module when there is no such attribute.
    """

    @staticmethod
    def find_spec(name: str, *more: object) -> None:  # noqa: ARG004
        """Raise ImportError for a module or a name that went."""
        package, _, last = name.rpartition(".")
        if package in ("fastrank", "fastrank.compat") and (hint := instead(package, last)):
            # An error with the name of the module would not reach the user.
            raise ImportError(f"cannot import name {last!r} from {package!r}{hint}")


def watch_imports() -> None:
    """Let the error of an import of what went say what to use instead."""
    import sys

    if Finder not in sys.meta_path:
        sys.meta_path.append(Finder)
