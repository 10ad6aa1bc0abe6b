"""What went: every error says what to use instead."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest

import fastrank as fr
import fastrank.compat
from fastrank.cli.main import COMMANDS, parser_of
from fastrank.common.dropped import DROPPED
from tests.helpers.commands import fastrank as run
from tests.helpers.installations import run_python

QRELS, RUNS = {"q": {"d": 1}, "p": {"d": 1}}, {"a": {"q": {"d": 1.0}}, "b": {"p": {"d": 1.0}}}
ROWS = [(place, name) for place, names in DROPPED.items() for name in names]
MODULES = {"fastrank": fr, "fastrank.tasks": fr.tasks, "fastrank.types": fr.types}


def of_class(name: str) -> object:
    """An object of a class."""
    if name == "JudgeAgreement":
        return fr.judge_agreement(QRELS, QRELS)
    # Their fields do not matter.
    kinds = {"Comparison": fr.types.Comparison}
    return object.__new__(kinds.get(name, fr.tasks.TaskResults))


def error_of(place: str, name: str) -> str:
    """What is said of what went."""
    if place == "commands":
        return told(name)
    if place.startswith("fastrank "):
        return told(f"{place.removeprefix('fastrank ')} {name}")
    calls: dict[str, Any] = {
        "fastrank.compat": lambda: importlib.import_module(f"fastrank.compat.{name}"),
        "test": lambda: fr.compare(QRELS, RUNS, "map", missing="zero", test=name),
        "kind": lambda: fr.compare(QRELS, RUNS, "map", missing="zero").plot(name),
        "Task": lambda: fr.Task(name, []),
        "Task 'classification'": lambda: fr.Task("classification", [], **{name: 1}),
        "evaluate_classification": lambda: fr.tasks.evaluate_classification([], [], **{name: 1}),
        "judge_agreement": lambda: fr.judge_agreement(QRELS, QRELS, **{name: None}),
        "Comparison.report": lambda: of_class("Comparison").report("", **{name: 1}),  # type: ignore[attr-defined]
    }
    owner = MODULES.get(place)
    try:
        if place in calls:
            calls[place]()
        else:
            thing = owner or of_class(place)
            assert not hasattr(thing, name)
            getattr(thing, name)
    except (AttributeError, ImportError, TypeError, fr.errors.OptionError) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"{place}: {name} is there")


def told(line: str) -> str:
    found = run(line)
    assert (found.status, found.out) == (2, "")
    return found.err.splitlines()[-1]


def expected(place: str, name: str) -> str:
    """The error before what is used instead; ... is any text."""
    if place == "commands":
        return f"fastrank: unknown command {name!r}"
    if " --" in place:
        return f"{place.partition(' --')[0]}: error: argument --...: invalid choice: {name!r} (...)"
    if place.startswith("fastrank "):
        return f"{place}: error: unknown option {name}"
    argument = f"TypeError: {place}() got an unexpected keyword argument {name!r}"
    return {
        "fastrank.compat": f"ImportError: cannot import name {name!r} from 'fastrank.compat'",
        "test": f"OptionError: test: expected one of ..., found {name!r}",
        "kind": f"OptionError: kind: no plot {name!r}",
        "Task": f"OptionError: kind: expected one of ..., found {name!r}",
        "Task 'classification'": f"TypeError: {place} has no option {name!r}",
        "evaluate_classification": argument,
        "judge_agreement": argument,
        "Comparison.report": argument,
    }.get(
        place,
        f"AttributeError: module {place!r} has no attribute {name!r}"
        if place in MODULES
        else f"AttributeError: {place!r} object has no attribute {name!r}"
        if place != "JudgeAgreement"
        else f"AttributeError: JudgeAgreement has no attribute {name!r}",
    )


@pytest.mark.parametrize(("place", "name"), ROWS)
def test_the_error_says_what_to_use_instead(place, name):
    start = re.escape(expected(place, name)).replace(re.escape("..."), ".*")
    end = re.escape(f"; it is gone: use {DROPPED[place][name]}")

    found = error_of(place, name)

    assert re.fullmatch(start + end, found), found


@pytest.mark.parametrize("package", ["fastrank", "fastrank.compat"])
def test_an_import_says_what_to_use_instead(package):
    for name, remedy in DROPPED[package].items():
        with pytest.raises(ImportError, match=re.escape(f"; it is gone: use {remedy}")):
            exec(f"from {package} import {name}")
        assert not hasattr(importlib.import_module(package), name)


def test_a_value_that_other_options_never_had_is_not_said_to_be_gone():
    assert "gone" not in told("gate check b q a --test tukey-anova")
    assert "gone" not in told("convert q r --kind values")


def test_the_remedy_of_other_libraries_classes_takes_what_they_return():
    module, function = DROPPED["fastrank.compat"]["ragas"].split(" ")[0].rsplit(".", 1)
    results_to_run = getattr(importlib.import_module(module), function)

    assert results_to_run({"q": [{"id": "d", "score": 1.0}]}).to_dict() == {"q": {"d": 1.0}}


def test_the_command_line_refuses_values_as_functions_do():
    for command in ("compare", "inspect -o x"):
        assert told(f"{command} q a b --test tukey-anova").endswith("; it is gone: use 'tukey'")


def test_what_to_use_instead_exists():
    remedies = {remedy for names in DROPPED.values() for remedy in names.values()}
    words = {
        word for remedy in remedies for word in re.findall(r"\bf(?:ast)?r(?:ank)?\.[\w.]+", remedy)
    }
    for word in words:
        *path, last = word.replace("fr.", "fastrank.", 1).split(".")
        try:
            owner = importlib.import_module(".".join(path))
        except ModuleNotFoundError:
            owner = getattr(importlib.import_module(".".join(path[:-1])), path[-1])
        assert hasattr(owner, last), word
    lines = {line for remedy in remedies for line in re.findall(r"`fastrank ([^`]+)`", remedy)}
    for line in lines:
        command, *flags = line.split()
        assert command in COMMANDS
        known = parser_of(command).flags()
        assert [flag for flag in flags if flag.startswith("-") and flag not in known] == []


def test_nothing_is_loaded_unless_there_is_an_error():
    """What the trec_eval command imports, and `import fastrank`."""
    code = (
        "import fastrank, fastrank.cli.trec_eval, sys;"
        " print('fastrank.common.dropped' in sys.modules)"
    )

    assert run_python(code) == "False"
