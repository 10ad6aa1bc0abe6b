"""Writes docs/measures.md from the table of measures and their formulas.

    python docs/scripts/measures_page.py > docs/measures.md

A test compares the page with what this prints.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from formulas import FORMULAS, NOTATION

from fastrank.cli.measures import other_names, usage_of
from fastrank.measures.families import CUTOFF, JUDGED, MEASURES, NEEDED, REL
from fastrank.measures.measure_options import Family, Option
from fastrank.measures.trec import MEASURES as TREC_MEASURES
from fastrank.measures.trec import NICKNAMES, Measure

INTRODUCTION = """
---
search:
  boost: 8
---

# Measures

[Which measure, which option](choosing.md) sorts the measures by purpose. This page has the order of
the table `fastrank.MEASURES` and the command `fastrank measures`: first the measures of trec_eval
under their names there, then those with named options, in the notation of ir_measures. You can mix
both in one call.

```sh
fastrank measures PercentileRank nDCG
```

If a denominator is 0, the value is 0, unless stated otherwise. A query without relevant documents
therefore scores 0 in most measures; the option `no_relevant` changes that. Sums are computed in
64-bit floats, in the same order as in trec_eval. The value of a run is the mean over queries,
unless another summary is named.

## Symbols
"""
COMMON_OPTIONS = """
## Common options

These options mean the same in all measures that have them; the tables below have the others. The
cutoff is the number after `@`, and required where `@k` is not in square brackets.

"""
COMMON = (REL, JUDGED, CUTOFF)
SETS = """
## Sets of measures

| name | measures |
|---|---|
"""
SUMMARIES = {
    "sum": "the sum over queries",
    "total": "the sum over queries",
    "geometric": "the geometric mean over queries",
    "": "none",
    "pooled": "the weighted mean over queries",
    "defined": "the mean over the queries with a value",
    "median": "the median over the queries with a value",
}
WORDS = {
    "rank": "rank",
    "grade": "grade",
    "share": "number from 0 to 1",
    "number": "number",
    "positive": "number above 0",
    "flag": "`True` or `False`",
    "gains": "`{grade:gain,...}`",
}
# Patterns of papers, as the table of measures cites them.
PAPERS = {
    "Buckley and Voorhees, [^;]*SIGIR 2000": "https://doi.org/10.1145/345508.345543",
    "Buckley and Voorhees, [^;]*SIGIR 2004": "https://doi.org/10.1145/1008992.1009000",
    "Yilmaz and Aslam, [^;]*CIKM 2006": "https://doi.org/10.1145/1183614.1183633",
    "Yilmaz, Kanoulas and Aslam, [^;]*SIGIR 2008": "https://doi.org/10.1145/1390334.1390437",
    r"Jarvelin and Kekalainen, ACM TOIS 20\(4\), 2002": "https://doi.org/10.1145/582415.582418",
    "Carterette et al., [^;]*ECIR 2008": "https://doi.org/10.1007/978-3-540-78646-7_5",
    r"Moffat and Zobel, ACM TOIS 27\(1\), 2008": "https://doi.org/10.1145/1416950.1416952",
    r"Deshpande and Karypis, ACM TOIS 22\(1\), 2004": "https://doi.org/10.1145/963770.963776",
    "Burges et al., ICML 2005": "https://doi.org/10.1145/1102351.1102363",
    "Chapelle et al., [^;]*CIKM 2009": "https://doi.org/10.1145/1645953.1646033",
    r"Sakai, [^;]*43\(2\), 2007": "https://doi.org/10.1016/j.ipm.2006.07.020",
    r"Clarke, Vtyurina and Smucker, [^;]*39\(3\), 2021": "https://doi.org/10.1145/3451161",
    "Moffat, Scholer and Thomas, ADCS 2012": "https://doi.org/10.1145/2407085.2407092",
    "Moffat, Bailey, Scholer and Thomas, ADCS 2015": "https://doi.org/10.1145/2838931.2838938",
    "Zhang et al., [^;]*SIGIR 2017": "https://doi.org/10.1145/3077136.3080841",
    "Azzopardi, Mackenzie and Moffat, [^;]*ICTIR 2021": "https://doi.org/10.1145/3471158.3472239",
    "Xiong et al., ANCE, ICLR 2021": "https://arxiv.org/abs/2007.00808",
    "Thakur et al., NeurIPS Datasets and Benchmarks 2021": "https://arxiv.org/abs/2104.08663",
}


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION.strip(), NOTATION.strip(), SETS.strip()]
    parts[-1] += "\n" + "\n".join(f"| `{name}` | {what} |" for name, what in NICKNAMES.items())
    first = len(TREC_MEASURES)
    parts.append("## Measures of trec_eval")
    parts += [_section(measure) for measure in MEASURES[:first]]
    parts.append(COMMON_OPTIONS.strip() + "\n\n" + _table(COMMON))
    parts.append("## Measures with options")
    parts += [_section(measure) for measure in MEASURES[first:]]
    return "\n\n".join(parts) + "\n"


def _section(measure: Measure) -> str:
    name = measure.name
    definition, _, source = " ".join(measure.help.split()).partition(" Source: ")
    names = other_names(measure) if isinstance(measure, Family) else []
    lines = [f"### {_escaped(name)}"]
    lines.append(f"`{usage_of(measure)}`" + _also(names) + _examples(measure, names))
    lines.append(_escaped(definition))
    if name in FORMULAS:
        lines += [f"$$\n{formula}\n$$" for formula in FORMULAS[name]]
    if facts := _facts(measure):
        lines.append(" ".join(facts))
    if isinstance(measure, Family) and (options := _others(measure)):
        lines.append(_table(options))
    if source:
        lines.append(f"Source: {_with_links(_escaped(source))}")
    return "\n\n".join(lines)


def _facts(measure: Measure) -> list[str]:
    """Sentences on the summary, the default parameters, the sets and the common options."""
    facts = []
    if measure.average != "mean":
        facts.append(f"Summary: {SUMMARIES[measure.average]}.")
    if measure.takes and measure.default:
        facts.append(f"Default parameters: {', '.join(f'{value:g}' for value in measure.default)}.")
    if measure.sets:
        facts.append(f"In {', '.join(f'`{name}`' for name in measure.sets)}.")
    if isinstance(measure, Family) and (common := [*_common(measure)]):
        facts.append(f"[Common options](#common-options): {', '.join(common)}.")
    return facts


def _also(aliases: list[str]) -> str:
    return f", also {', '.join(f'`{alias}`' for alias in aliases)}" if aliases else ""


def _examples(measure: Measure, aliases: list[str]) -> str:
    """Names with a cutoff, as readers look for them."""
    name, usage = measure.name, usage_of(measure)
    if usage.endswith(".RANKS"):
        made = [f"{name}.10", f"{name}_10"]
    elif usage.endswith(("@k", "@k]")):
        others = (alias.removesuffix("_k") for alias in aliases)
        made = [f"{one}@10" for one in dict.fromkeys((name, *others))]
    else:
        return ""
    return f"; for example {' or '.join(f'`{one}`' for one in made)}"


def _with_links(source: str) -> str:
    """A source, in which papers are links."""
    for paper, address in PAPERS.items():
        source = re.sub(paper, rf"[\g<0>]({address})", source)
    return source


def _common(measure: Family) -> list[str]:
    """The options that are explained once for all measures."""
    return [f"`{name}`" for name, option in measure.options.items() if option in (*COMMON, NEEDED)]


def _others(measure: Family) -> list[Option]:
    return [option for option in measure.options.values() if option not in (*COMMON, NEEDED)]


def _table(options: Iterable[Option]) -> str:
    rows = ["| option | values | default | meaning |", "|---|---|---|---|"]
    return "\n".join(rows + [_row(option) for option in options])


def _row(option: Option) -> str:
    values = ", ".join(f"`{value!r}`" for value in option.choices) or WORDS[option.kind]
    default = "" if option.default is None else f"`{option.default!r}`"
    shown = "required" if option.needed else default
    return f"| `{option.name}` | {values} | {shown} | {_escaped(option.help)} |"


def _escaped(text: str) -> str:
    """Text with Markdown's special characters escaped."""
    for mark in "\\*_<>|":
        text = text.replace(mark, "\\" + mark)
    return text


if __name__ == "__main__":
    sys.stdout.write(page())
