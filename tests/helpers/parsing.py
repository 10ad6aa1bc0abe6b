"""The readers and writers by the name of a TREC format, with the types of what they make."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastrank import Qrels, Run, read_qrels, read_run, write_qrels, write_run
from fastrank.core.formats.trec.reader import parse
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


read_trec_run = partial(read_run, format="trec")
read_trec_qrels = partial(read_qrels, format="trec")
read_qrels_jg = partial(read_qrels, format="qrels_jg")
read_prefs = partial(read_qrels, format="prefs")
read_qrels_prefs = partial(read_qrels, format="qrels_prefs")
write_trec_run = partial(write_run, format="trec")
write_trec_qrels = partial(write_qrels, format="trec")
write_prefs = write_qrels
