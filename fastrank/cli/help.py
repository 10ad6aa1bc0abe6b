"""The help that `trec_eval -h` prints."""

from __future__ import annotations

from fastrank.core.measures.trec import MEASURES, NICKNAMES, Measure

GENERAL = """\
trec_eval [options] REL_FILE RUN_FILE

Evaluates the rankings in RUN_FILE against the judgments in REL_FILE and prints
a line `measure <tab> all <tab> value` for each measure. This is the trec_eval
command of fastrank.

Options may appear anywhere and be bundled (-qcmP.5); long names may be
abbreviated.

 -h, --help                      print this help, the file formats, and the
                                 measures given with -m
 -v, --version                   print the version on standard error
 -q, --query_eval_wanted         print values per query before the summary
 -m, --measure NAME[.PARAMETERS] compute this measure or set of measures; may be
                                 repeated (default: official). Measures are
                                 printed in a fixed order.
 -c, --complete_rel_info_wanted  average over all queries in REL_FILE; queries
                                 missing from RUN_FILE count as 0
 -l, --level_for_rel N           lowest grade that is relevant (default: 1)
 -n, --nosummary                 do not print the summary
 -J, --Judged_docs_only          remove unjudged documents (no grade, or a
                                 negative one) from the rankings
 -M, --Max_retrieved_per_topic N keep the first N documents of each ranking
 -N, --Number_docs_in_coll N     number of documents in the collection, used by
                                 utility (default: 0)
 -R, --Rel_info_format NAME      format of REL_FILE: qrels (default), qrels_jg,
                                 prefs or qrels_prefs
 -T, --Results_format NAME       format of RUN_FILE: trec_results
 -Z, --Zscore FILE               print z-scores, using the means and standard
                                 deviations in FILE
 -D, --Debug_level N[.QUERY]     evaluate only QUERY; print on standard error
                                 its counts (N > 0), ranks and grades (N > 1)
 -o, --Output_old_results_format ignored (the long form takes a value)

Files may be compressed with gzip, bzip2, xz or zstd; `-` is standard input.

Parameters follow the name of a measure after a dot: P.5,10 (ranks),
iprec_at_recall..2,.5 (numbers), ndcg.1=3,2=9 (gain of each grade), rbp.p=0.8.

Environment variables:
 FASTRANK_TREC_EVAL_VERSION      version of trec_eval whose numbers to compute:
                                 9.0.8 (default; -v prints 9.0.7, like the
                                 original 9.0.8) or 10.0
 FASTRANK_THREADS                maximum number of threads (default: up to 8 for
                                 a large RUN_FILE)

Exit status:
   0  success
   1  invalid usage, or an unknown measure
   2  unreadable or malformed file, or invalid measure parameters
   4  a query cannot be evaluated, for example because of a duplicate document
   7  no query has both judgments and results
 134  contradictory preferences
 255  unreadable or malformed z-score file

Sets of measures:
"""

RUN_HELP = """\
Run (trec_results): lines `query Q0 doc rank score tag`, separated by blanks.
Documents are ranked by score, ties by document id in descending order. Q0, rank
and fields after the tag are ignored. The lines of a query need not be adjacent.
"""

RELEVANCE_HELP = {
    "qrels": """\
Judgments (qrels): lines `query iter doc grade`. The grade is an integer; a
document is relevant if its grade is at least that of -l. A negative grade means
pooled but not judged. iter is the subtopic for measures of subtopics, and
ignored by all others.
""",
    "qrels_jg": """\
Judgments by groups (qrels_jg): lines `query group doc grade`. Measures are
averaged over the judgment groups of a query.
""",
    "prefs": """\
Preferences (prefs): lines `query group subgroup doc level`. Within a subgroup
of a judgment group, documents with a higher level are preferred to documents
with a lower one; level 0 is not relevant. Preferences of several subgroups
combine transitively.
""",
    "qrels_prefs": """\
Preferences in qrels layout (qrels_prefs): lines `query group doc level`. Within
a judgment group, documents with a higher level are preferred to documents with
a lower one.
""",
}

RULE = "-" * 72 + "\n"


def help_text(measures: list[Measure], relevance_format: str, run_format: str) -> str:
    """The help: general text, file formats that exist, and the given measures."""
    nicknames = "".join(
        f" {name:12} {meaning}:\n{_wrapped(names)}"
        for name, meaning in NICKNAMES.items()
        for names in [[measure.name for measure in MEASURES if name in measure.sets]]
    )
    parts = [GENERAL + nicknames]
    if run_format == "trec_results":
        parts.append(RUN_HELP)
    if relevance_format in RELEVANCE_HELP:
        parts.append(RELEVANCE_HELP[relevance_format])
    parts.append("".join(_describe(measure) for measure in measures))
    return RULE.join(parts)


def _describe(measure: Measure) -> str:
    return f"{measure.name}\n" + "".join(f"    {line}\n" for line in measure.help.split("\n"))


def _wrapped(names: list[str]) -> str:
    import textwrap

    indent = " " * 14
    lines = textwrap.wrap(" ".join(names), 80, initial_indent=indent, subsequent_indent=indent)
    return "".join(f"{line}\n" for line in lines)
