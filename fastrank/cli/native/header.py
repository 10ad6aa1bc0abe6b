"""Writes the header of trec_eval.c: everything that the front takes from declarations in Python.

For each kernel that the front names, there is a C function with the types of its arguments, so that
the C compiler checks all calls; records are structures with the same fields. trec_eval's measures
are a table. Constants have the names under which the front mentions them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from fastrank.cli import output, trec_eval
from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.messages import first_few
from fastrank.core.formats.files.source import MAGICS
from fastrank.core.matching.options import Options
from fastrank.core.measures.bound import bind_trec
from fastrank.core.measures.trec import MEASURES, NICKNAMES, Measure
from fastrank.core.native import codes
from fastrank.core.native.compiling.signatures import field_types, flat_words
from fastrank.core.native.library import LEVELS
from fastrank.core.native.record import RECORDS, State
from fastrank.core.scores import columns, text

FOLDER = os.path.dirname(os.path.abspath(__file__))
FRONT, LAUNCHER = (os.path.join(FOLDER, name) for name in ("trec_eval.c", "launch.sh"))

# Arrays by the codes of their items: the names of their types in C, and those of the items.
_ARRAYS = {
    "B": ("bytes", "uint8_t"),
    "i": ("shorts", "int32_t"),
    "q": ("integers", "int64_t"),
    "d": ("doubles", "double"),
}
_NUMBERS = {"int64": "int64_t", "float64": "double", "void": "void"}
# The kinds of kernels of measures by what these need: where the table has them.
_KINDS = {"ranking": "of_rankings", "gains": "of_gains", "unit gains": "of_gains"}
# A program is bound to the start of the newest C library that it is linked with; this one to that
# of the first, which all others have. The linker calls it `__wrap_...` where it is asked to.
_START = """\
typedef void function(void);
typedef int start(int (*)(), int, char **, function *, function *, function *, void *);
start first_start, __wrap___libc_start_main;
__asm__(".symver first_start, __libc_start_main@{glibc}");
int __wrap___libc_start_main(int (*program)(), int count, char **words, function *begin,
                             function *end, function *unload, void *stack) {{
    return first_start(program, count, words, begin, end, unload, stack);
}}"""
_TYPES = """\
typedef int32_t entry(void *result, void *exception, const int64_t *arguments);
enum average { NONE, MEAN, SUM, GEOMETRIC };
struct measure {
    const char *name;
    void (*of_rankings)(struct Rankings, doubles, doubles);
    void (*of_gains)(struct GainedRankings, doubles, doubles);
    void (*of_texts)(struct Rankings, doubles, bytes);
    int rescaled, counts_positive, takes_cutoffs, width, labels_count;
    enum average average;
    unsigned sets;
    doubles numbers;
    const char *const *labels;
};"""


def needed_kernels(names: Iterable[str]) -> list[str]:
    """Those of some kernels that the front calls, by its own names or by the table of measures."""
    called = _mentioned() | {measure.kernel for measure in _plain_measures()}
    return [name for name in names if name in called]


def header(kernels: Mapping[str, str], level: str, glibc: str) -> str:
    """The text of the header.

    kernels: how each of the needed ones is called (`signatures.call_words`). level: the CPU level
    that they are compiled for. glibc: the first version of the C library, if it is that one.
    """
    names = ["Rankings", "GainedRankings", *_mentioned().intersection(RECORDS)]
    names += [word for words in kernels.values() for word in words.split() if word in RECORDS]
    lines = ["#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>"]
    lines += ["static void *zeros(int64_t items, size_t size);"]
    lines += [f"typedef struct {{ {item} *at; int64_t count; }} {name};\n"
             f"static inline {name} new_{name}(int64_t items) {{\n"
             f"    return ({name}){{zeros(items, sizeof({item})), items}};\n}}"
             for name, item in _ARRAYS.values()]  # fmt: skip
    structures: dict[str, str] = {}
    for name in sorted(names):
        _add_structure(name, structures)
    lines += [*structures.values(), _TYPES, *_constants(level)]
    for name, words in sorted(kernels.items()):
        lines += _call(name, *words.split()[1:])
    start = [_START.format(glibc=glibc)] if glibc else []
    return "\n".join([*lines, *_measures(), *start, ""])


def _mentioned() -> set[str]:
    """The words of the front."""
    with open(FRONT) as file:
        return set(re.findall(r"[A-Za-z_]\w*", file.read()))


def _constants(level: str) -> Iterator[str]:
    """What the front mentions of codes, and the facts and texts of other modules."""
    with open(LAUNCHER) as file:
        launcher = file.read()
    mentioned, decimals = _mentioned(), int(columns.REAL[-2:-1])
    numbers = {name: value for name, value in vars(codes).items() if name in mentioned}
    numbers |= {
        "CPU_LEVEL": LEVELS[level],
        "COLLECTION_SIZE": Options().collection_size,
        "BROKEN_PIPE": output.BROKEN_PIPE,
        "MOST_NAMED": text.NAMED,
        "DECIMALS": decimals,
        "SCALE": 10.0**decimals,
    }
    note = text.lacking("the run", "%ld", "%ld judged queries", "%s")
    beginning, end = note.split("%s")
    failed = f": {output.UNWRITABLE}%s\n"
    texts = {
        "LAUNCHER": launcher,
        "LETTERS": trec_eval.SHORT,
        "LABEL": columns.LABEL.decode().replace("b", "s"),
        "COUNT_FORMAT": columns.COUNT.decode().replace("d", "ld"),
        "REAL_FORMAT": columns.REAL.decode(),
        "DEFAULT_SET": trec_eval.DEFAULT_SET,
        "BETWEEN_NAMES": first_few(["", ""]),
        "MORE_NAMES": first_few(["", ""], 1),
        "UNWRITABLE": f"trec_eval{failed}",
        "UNWRITABLE_COLORED": output.in_color("trec_eval", "error") + failed,
        "NOTE_BEGINNING": f"trec_eval: {beginning}",
        "END_OF_ONE": f"{end}; {text.treated(1, '-c', zero=False)}\n",
        "END_OF_MANY": f"{end}; {text.treated(2, '-c', zero=False)}\n",
    }
    options = Options(original=True).codes()._asdict().items()
    yield f"#define OPTIONS {{ {', '.join(f'.{name} = {int(value)}' for name, value in options)} }}"
    yield "int fastrank_cpu_level(void);"
    yield from (f"#define {name} {value}" for name, value in numbers.items())
    yield from (f"#define {name} {_quoted(value)}" for name, value in texts.items())
    magics = ", ".join(f"{{(uint8_t *){_quoted(m)}, {len(m)}}}" for m in MAGICS.values())
    yield f"static const bytes MAGICS[] = {{{magics}}};"


def _quoted(value: str | bytes) -> str:
    """A literal of C."""
    raw = value.encode() if isinstance(value, str) else value
    return '"' + "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}" for byte in raw
    ) + '"'  # fmt: skip


def _type(word: str) -> str:
    """The type in C of what a word of `signatures.call_words` stands for."""
    return _ARRAYS[word][0] if word in _ARRAYS else _NUMBERS.get(word) or f"struct {word}"


def _add_structure(name: str, structures: dict[str, str]) -> None:
    """Add a record behind those that it holds; of a state also the structure of its numbers."""
    record = RECORDS[name]
    if name in structures:
        return
    if issubclass(record, State):
        fields = "".join(f" int64_t {field};" for field in record.__annotations__)
        numbers = f"struct {name}_numbers {{{fields} }};\n"
        structures[name] = (
            f"{numbers}struct {name} {{ struct {name}_numbers *at; int64_t count; }};"
        )
        return
    words = [flat_words(kind)[0] for kind in field_types(record)]
    for word in words:
        if word in RECORDS:
            _add_structure(word, structures)
    pairs = zip(record.__annotations__, words, strict=True)
    fields = "".join(f" {_type(word)} {field};" for field, word in pairs)
    structures[name] = f"struct {name} {{{fields} }};"


def _call(name: str, result: str, count: str, *words: str) -> Iterator[str]:
    """A function that calls the entry point of a kernel."""
    types = []
    while words:
        types.append(_type(words[0]))
        words = words[len(flat_words(words[0])) :]
    assert len(types) == int(count)
    parameters = [f"{kind} argument{i}" for i, kind in enumerate(types)]
    fields = "".join(f" {parameter};" for parameter in parameters)
    values = ", ".join(f"argument{i}" for i in range(len(types)))
    yield f"entry fastrank_{name};"
    yield f"static inline {_type(result)} {name}({', '.join(parameters)}) {{"
    yield f"    const struct {{{fields} }} arguments = {{{values}}};"
    yield f"    {'double' if result == 'float64' else 'int64_t'} result = 0, exception;"
    yield f"    if (fastrank_{name}(&result, &exception, (const int64_t *)&arguments))"
    yield "        abort();"
    yield f"    {'' if result == 'void' else 'return result;'}"
    yield "}"


def _plain_measures() -> list[Measure]:
    """The measures of plain judgments, which need no more than rankings and default gains.

    Judged queries without results count nothing in them, or their positive grades.
    """
    return [
        measure
        for measure in MEASURES
        if measure.needs in ("run", "queries", *_KINDS) and measure.without_results != "judgments"
    ]


def _measures() -> Iterator[str]:
    """The table of measures, and of the sets that have no others."""
    plain = _plain_measures()
    sets = [name for name in NICKNAMES
            if all(measure in plain for measure in MEASURES if name in measure.sets)]  # fmt: skip
    yield f"static const char *const SETS[] = {{{', '.join(map(_quoted, sets))}}};"
    yield "static const struct measure MEASURES[] = {"
    for measure in plain:
        bound = bind_trec(measure, None, DEFAULT_VERSION)
        in_sets = measure.sets if measure.since == DEFAULT_VERSION else ()
        numbers = [repr(number).replace("inf", "INFINITY") for number in bound.numbers]
        labels = ", ".join(_quoted(columns.LABEL % name) for name in bound.names)
        kind = "of_texts" if measure.is_text else _KINDS.get(measure.needs)
        facts = {
            "name": _quoted(measure.name),
            **({kind: measure.kernel} if kind and measure.kernel else {}),
            "rescaled": int(measure.needs == "unit gains"),
            "counts_positive": int(measure.without_results == "positive grades"),
            "takes_cutoffs": int(measure.takes == "cutoffs"),
            # Texts are as long as that.
            "width": int(bound.numbers[0]) if measure.is_text and measure.kernel else bound.width,
            "average": measure.average.upper() or "NONE",
            "sets": sum(1 << i for i, name in enumerate(sets) if name in in_sets),
            "numbers": f"{{(double[]){{{', '.join(numbers) or '0'}}}, {len(numbers)}}}",
            "labels_count": len(bound.names),
            "labels": f"(const char *const[]){{{labels}}}",
        }
        yield f"    {{{', '.join(f'.{field} = {value}' for field, value in facts.items())}}},"
    yield "};"
