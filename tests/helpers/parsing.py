"""The readers of text by the name of their format, with the types of what they make."""

from __future__ import annotations

from typing import Any

from fastrank import Qrels, Run
from fastrank.formats.trec import parse
from fastrank.types import Preferences


def parse_run(text: bytes, name: str = "<bytes>", **options: Any) -> Run:
    run: Run = parse(text, name, "trec_results", **options)
    return run


def parse_qrels(text: bytes, name: str = "<bytes>", form: str = "qrels", **options: Any) -> Qrels:
    qrels: Qrels = parse(text, name, form, **options)
    return qrels


def parse_qrels_jg(text: bytes, name: str = "<bytes>", **options: Any) -> Qrels:
    return parse_qrels(text, name, "qrels_jg", **options)


def parse_prefs(
    text: bytes, name: str = "<bytes>", form: str = "prefs", **options: Any
) -> Preferences:
    preferences: Preferences = parse(text, name, form, **options)
    return preferences
