"""`fastrank compare --values`: the comparison of values of items, from tables of any program."""

from __future__ import annotations

from fastrank.analysis.comparing.compare import compare_datasets, compare_scores
from fastrank.analysis.comparing.value_forms import tables_in
from fastrank.analysis.comparing.value_tables import read_values
from fastrank.cli.command import flag_of
from fastrank.cli.flags import given_options
from fastrank.common.keywords import names_of
from fastrank.core.matching.keywords import EvaluationOptions
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.cli.parser import Parser

# Options that only the evaluation of runs needs.
OF_RUNS = ("relevance_format", "jobs", "tags", "save", *sorted(names_of(EvaluationOptions)))


def remember_defaults(parser: Parser) -> None:
    """Keep the defaults of the flags that have no effect on values, when all are declared."""
    parser.set_defaults(of_runs={name: parser.get_default(name) for name in OF_RUNS})


def compared_values(arguments: argparse.Namespace, statistical: list[str]) -> Comparison:
    """The comparison of the systems in tables; `runs` becomes their names.

    Systems are compared on the items that all of them have. Raises what reading tables and
    comparing raise, and OptionError for a flag without effect.
    """
    for name, default in arguments.of_runs.items():
        if getattr(arguments, name) != default:
            raise OptionError(flag_of(name), "no effect with --values")
    tables = tables_in([arguments.qrels, *arguments.runs])
    assert tables is not None
    measures = arguments.measures or ()
    values = read_values(tables, None, arguments.clusters, measures)
    options: dict[str, Any] = given_options(arguments, statistical)
    options |= {name: getattr(arguments, name) for name in ("baseline", "names", "threads")}
    options |= {"interval": arguments.interval or "t", "queries": "common"}
    if arguments.clusters is not None:
        options["clusters"] = values.clusters
    if values.of_datasets:
        may_resample = arguments.interval in (None, "percentile") and arguments.clusters is None
        if may_resample:
            options["interval"] = "percentile"
        comparison = compare_datasets(values, resample_queries=may_resample, **options)
    else:
        comparison = compare_scores(values, **options)
    arguments.runs = comparison.names
    has_others = arguments.per_query or arguments.pairs or arguments.largest is not None
    in_text = arguments.format not in ("csv", "json")
    if values.of_datasets and in_text and not has_others and not options["baseline"]:
        arguments.standings = len(comparison) > 1
    return comparison
