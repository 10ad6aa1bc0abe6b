"""What `trec_eval -h` prints."""

from __future__ import annotations

from fastrank.measures.trec import MEASURES, NICKNAMES, Measure

GENERAL = """\
trec_eval [options] REL_FILE RUN_FILE

Evaluates the rankings in RUN_FILE by the judgments in REL_FILE and prints one line
`measure <tab> all <tab> value` for each measure. This is fastrank's trec_eval.

Options may stand anywhere, be bundled (-qcmP.5), and long names cut to a unique prefix.

 -h, --help                      print this text, the formats, and with -m the measures
 -v, --version                   print the version on standard error
 -q, --query_eval_wanted         print the values of each query before the summary
 -m, --measure NAME[.PARAMETERS] compute this measure or set of measures; repeatable
                                 (default: official); output is in the order of the table
 -c, --complete_rel_info_wanted  average over all queries of REL_FILE; those that RUN_FILE
                                 lacks count as 0
 -l, --level_for_rel N           lowest grade that is relevant (1)
 -n, --nosummary                 print no summary
 -J, --Judged_docs_only          drop documents without a grade of at least 0 from the rankings
 -M, --Max_retrieved_per_topic N keep the first N documents of each ranking
 -N, --Number_docs_in_coll N     size of the collection, for utility (0)
 -R, --Rel_info_format NAME      format of REL_FILE: qrels (default), qrels_jg, prefs, qrels_prefs
 -T, --Results_format NAME       format of RUN_FILE: trec_results
 -Z, --Zscore FILE               print z-scores by the means and deviations in FILE
 -D, --Debug_level N[.QUERY]     evaluate only QUERY; N > 0 shows on standard error what the
                                 measures see (2: with ranks and grades)
 -o, --Output_old_results_format ignored (the long form takes a value)

Files may be compressed (gzip, bzip2, xz, zstd); `-` is standard input. Environment:
FASTRANK_TREC_EVAL_VERSION=9.0.8 (default) or 10.0 chooses whose numbers to compute;
FASTRANK_THREADS=N lets N threads at most judge a large run (default: as many as help).

Exit status: 0 done; 1 wrong usage or unknown measure; 2 unreadable or malformed file, or
impossible parameters; 4 a query that cannot be evaluated, such as one with a document twice;
7 no query with judgments and results; 134 contradictory preferences; 255 z-score file.

Parameters follow the measure's name after a point: P.5,10 (ranks), iprec_at_recall..2,.5
(numbers), ndcg.1=3,2=9 (gain for each grade), rbp.p=0.8.

Sets of measures:
"""

RUN_HELP = """\
Run (trec_results): lines `query Q0 doc rank score tag`, separated by blanks. Documents are
ranked by score, equal scores by document id, larger first; rank and Q0 are not used, fields
after the tag neither. A query's lines may stand anywhere.
"""

RELEVANCE_HELP = {
    "qrels": """\
Judgments (qrels): lines `query iter doc grade`, the grade an integer: relevant if at least -l,
negative for a document that was pooled but not judged. iter is not used.
""",
    "qrels_jg": """\
Judgments by groups (qrels_jg): lines `query group doc grade`; measures are averaged over the
judgment groups of a query.
""",
    "prefs": """\
Preferences (prefs): lines `query group subgroup doc level`. Within a subgroup of a judgment
group, documents of a higher level are preferred to those of a lower one; level 0 is not
relevant. Preferences of several subgroups combine transitively.
""",
    "qrels_prefs": """\
Preferences in the layout of qrels (qrels_prefs): lines `query group doc level`; within a
judgment group, documents of a higher level are preferred to those of a lower one.
""",
}

RULE = "-" * 72 + "\n"


def help_text(measures: list[Measure], relevance_format: str, run_format: str) -> str:
    """General text, file formats (each unless its name is unknown), and the given measures."""
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
    lines = textwrap.wrap(" ".join(names), 92, initial_indent=indent, subsequent_indent=indent)
    return "".join(f"{line}\n" for line in lines)
