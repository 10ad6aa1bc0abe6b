"""Mistakes that type checkers find: a line for each, with a comment that says so.

ty 0.0 accepts any name in place of `**options: Unpack[TypedDict]`.
"""

from __future__ import annotations

import fastrank as fr

qrels = {"q1": {"d1": 1}}
run = {"q1": {"d1": 0.5}}


def mistakes() -> None:
    fr.evaluate(qrels, run, ties="averge")  # error
    fr.evaluate(qrels, run, missing=True)  # error
    fr.evaluate(qrels, run, relevance_level="2")  # error
    fr.evaluate(qrels, run, depht=10)  # error, but not for ty
    fr.evaluate(qrels, [run, run]).mean  # error  # noqa: B018
    fr.Evaluator(qrels, "map", trec_eval_version="9")  # error
    fr.compare(qrels, [run, run], "map", correction="holmes")  # error
    fr.compare(qrels, [run, run], "map", executor=4)  # error
    fr.read_run("a.run", format="tred")  # error
