"""What tells whether an answer is right."""

from __future__ import annotations

import json

from bench import expected
from bench.libraries import PREAD, READ_FACTS
from bench.manifest import Manifest
from bench.programs import WC, Program
from bench.tasks import FLOOR, MEASURES, READ


def problem(program: Program, manifest: Manifest, answers: bytes) -> str:
    """What is wrong in what a program printed or a library found; empty if nothing is."""
    if program.package is None:
        return _printed(program, manifest, answers)
    found = (_values(program, manifest, json.loads(line)) for line in answers.splitlines())
    return next(filter(None, found), "")


def _printed(program: Program, manifest: Manifest, output: bytes) -> str:
    if program.name == WC:
        right = output.split()[:1] == [b"%d" % manifest.lines]
        return "" if right else "another number of lines"
    if program.task == FLOOR:
        return ""
    names = expected.names_of(MEASURES[program.task])
    return expected.printed_wrong(output, manifest.expected, names)


def _values(program: Program, manifest: Manifest, found: dict[str, float]) -> str:
    if program.name == PREAD:
        return expected.values_wrong(found, {"bytes": manifest.bytes}, ("bytes",))
    if program.task == READ:
        facts = {name: getattr(manifest, name) for name in READ_FACTS}
        return expected.values_wrong(found, facts, READ_FACTS)
    partial = program.package is not None and program.package.partial
    names = () if partial else expected.names_of(MEASURES[program.task])
    return expected.values_wrong(found, manifest.expected, names)


def difference(found: bytes, wanted: bytes, but_for: bytes) -> str:
    """The first line in which two outputs differ, without those that begin with `but_for`."""
    ours, theirs = (
        [line for line in text.split(b"\n") if not line.startswith(but_for)]
        for text in (found, wanted)
    )
    for number, (one, other) in enumerate(zip(ours, theirs, strict=False), 1):
        if one != other:
            return f"line {number} is {one!r}, expected {other!r}"
    same = len(ours) == len(theirs)
    return "" if same else f"{len(ours) - 1} lines, expected {len(theirs) - 1}"
