"""Record what the two original trec_eval programs print for inputs of our own.

    python tests/recorded/record.py --v908 PATH --v10 PATH

Runs every case below with both programs, each in a fresh temporary directory and with argv[0]
set to "trec_eval", and writes cases.json beside this file: a list of objects, one on a line,

    {"name", "shows", "args", "files", ["stdin"], "expect": {"9.0.8": {...}, "10.0": {...}}}

where an expectation holds the exit status, the whole of stdout (null where only the exit status
counts, for the help text) and the first line of stderr. All text is bytes decoded as latin-1, so
that every byte can be written down. A level is left out of "expect" where the original has no
defined result (crashes, uninitialised memory) or where we differ on purpose:

* measures, comments and standard input that only 10.0 knows are accepted at level 9.0.8 too;
* at level 10.0 a judged query that is missing from the run is skipped when -c is absent, where
  the original stops with exit status 4 (found by its message and left out automatically).

All inputs are invented here; the random ones come from fixed seeds.
"""

import argparse
import json
import random
import subprocess
import tempfile
from pathlib import Path

LEVELS = ("9.0.8", "10.0")
CASES = []


def case(name, shows, args, files, *, stdin=None, only=None, text=True):
    """Add a case. `args` is split at blanks when it is a string; `only` names the one level
    whose result counts; without `text` only the exit status is kept, not stdout."""
    args = args.split() if isinstance(args, str) else args
    record = {"name": name, "shows": shows, "args": args, "files": files, "stdin": stdin}
    CASES.append(record | {"only": only, "text": text})


def table(files, rows, tail="qrels run", **more):
    """Add a case for each line "name | arguments | what it shows", all with the same files.
    `tail` follows the arguments."""
    for row in filter(None, map(str.strip, rows.splitlines())):
        name, args, shows = map(str.strip, row.split("|"))
        case(name, shows, f"{args} {tail}", files, **more)


def lines(spec, form):
    """Expand "q1: a=1 b=2; q2: c=3": one line `form` for each item, {n} counts within a block."""
    out = []
    for block in filter(str.strip, spec.split(";")):
        head, items = block.split(":")
        for n, item in enumerate(items.split(), 1):
            doc, value = item.split("=")
            out.append(form.format(head=head.strip(), doc=doc, value=value, n=n) + "\n")
    return "".join(out)


def qrels(spec):
    """Judgements: "query: document=grade ..."."""
    return lines(spec, "{head} 0 {doc} {value}")


def judged(spec):
    """The other relevance formats: "query group [subgroup]: document=level ..."."""
    return lines(spec, "{head} {doc} {value}")


def run(spec, tag="tag"):
    """A run: "query: document=score ..."."""
    return lines(spec, "{head} Q0 {doc} {n} {value} " + tag)


def both(q, r, **more):
    """The files of a case: relevance information, run, and others by name."""
    return {"qrels": q, "run": r, **more}


QRELS = qrels(
    "q7: owl=2 fox=0 elk=1 yak=3 bat=-1 hen=1; q3: ant=1 bee=0 fly=1 gnat=0; q12: cod=0 eel=0"
)
RUN = run(
    "q7: fox=9.5 owl=8.25 ram=7 bat=6 yak=5 hen=4.5; q3: wasp=4 ant=3 bee=3 fly=2.5; q12: cod=1"
)
BASE = both(QRELS, RUN)
SMALL = both(qrels("q: a=1 b=0"), run("q: a=1"))
# q2 and q9 are judged but not in the run, q5 is in the run but not judged
HOLES = both(
    qrels("q1: a=1 b=0 c=2; q2: a=1 d=1; q4: b=1 c=0; q9: e=3 f=0"),
    run("q1: c=3 b=2 x=1; q4: c=2 b=1; q5: a=9 b=8"),
)
BY_NAME = (
    "set_F set_map set_recall set_relative_P set_P success relative_P map_cut ndcg_cut Rndcg "
    "ndcg_rel ndcg G binG 11pt_avg utility Rprec_mult gm_bpref infAP recall relstring P recip_rank "
    "iprec_at_recall bpref Rprec gm_map map num_rel_ret num_rel num_ret num_q runid yaap"
)


def measures():
    """Every measure, its parameters and nicknames."""
    table(
        BASE,
        """
        official_is_the_default | | Without -m the official measures.
        all_trec_q | -m all_trec -q -n | Every line of all_trec, graded.
        set_nickname | -m set -q | The set measures by their nickname.
        yaap | -m yaap -q | yaap is in no nickname.
        params_of_double_cutoffs | -m iprec_at_recall..85,.15,-0.5,1.5 -mRprec_mult.3,.25,-1 -q | \
            Points outside the usual range too.
        names_of_double_cutoffs | -m iprec_at_recall.0.333,0.3349,1234567,1e9 -n -q | \
            Rounded to two places, then cut to eight characters.
        eleven_pt_params | -m 11pt_avg.0.5,0.25,1 -q | In the given order; named in the output.
        utility_params | -m utility.1,-.5,-2,0.01 -N 500 -q | Four weights and a collection size.
        utility_N_unused | -m utility -N 1000000 -q | By default the collection size has no weight.
        utility_three_weights | -m map -m utility.1,2,3 -q | The measure fails: exit status 4.
        set_F_0 | -m set_F.0 -q | Weight 0 is precision.
        set_F_two | -m set_F.0.5,9 -q | Only the first weight counts.
        set_F_garbage | -m set_F.x -q | Garbage is 0.
        set_F_minus_1 | -m set_F.-1 -q | Negative weights are not checked.
        relstring_3_9 | -m relstring.3.9 -q | Three codes.
        relstring_0 | -m relstring.0 -q | No codes.
        relstring_minus_2 | -m relstring.-2 -q | None with a negative length.
        relstring_40 | -m relstring.40 -q | No more codes than documents.
        gains | -m ndcg.1=1,2=5,3=4 -m ndcg_rel.1=2 -m Rndcg.3=1,0=1 -m G.2=7,1=.5 -q | \
            Gains for every measure that takes them.
        gains_for_unjudged | -m ndcg.-1=1.5,-2=2 -mG.-1=1 -mRndcg.-2=3 -m ndcg_rel.-1=1 -q | \
            Level -1 is a document outside the pool, -2 one with a negative judgement.
        gains_fractional | -m ndcg.1=0.9,2=0.4,3=0.6 -mRndcg.1=.2,2=1.1,3=.3 -mG.3=0.5 -q | \
            Gains less than 1 apart count as equal when the ideal ranking is sorted.
        gains_fractional_empty | -m ndcg.3=0.25,1=.5,0=0 -m ndcg_rel.0=0,1=.5,2=.2,3=.1 -q | \
            A badly sorted table with gain 0 at the end has no ideal ranking.
        gains_negative | -m ndcg.0=-1 -m G.0=-3,1=2 -m ndcg_rel.0=-2 -m Rndcg.1=-1 -q | Negative.
        gains_zero | -m ndcg.1=0,2=0,3=0 -m Rndcg.1=0,2=0,3=0 -m ndcg_rel.1=0,2=0,3=0 -q | \
            No gain above zero: Rndcg is 0/0.
        gain_levels_odd | -m ndcg.x=2,1y=4,=3 -m G.+2=5 -m Rndcg.p=1,3=7 -q | \
            Level names that are no integer: 9.0.8 reads their start, 10.0 ignores them.
        gain_level_twice | -m ndcg.1=2,1=6,3= -m G.2=1,2=9 -q | The first entry has the count.
        first_params_win | -m official -m P.2 -m P.3 -m P -m recall -m recall.1 | \
            Only the first parameter list of a measure counts, also after a nickname.
        nickname_params | -m set.5,6 | Ignored after a nickname.
        unused_params | -m map.1 -m num_q.x -m set_P.2=3 -q | Ignored by measures that take none.
        trailing_commas | -m 11pt_avg..5, -m utility.1,2,3, -m relstring.3, -q | A comma adds a 0.
        gm_measures | -m gm_map -m gm_bpref -m map -m bpref -q | \
            Zero counts as 0.00001; nothing is printed per query.
        """,
    )
    table(
        BASE,
        """
        dcg_alone | -m dcg -q | Discounted gain.
        ideal_dcg_alone | -m ideal_dcg -q | Its best value.
        dcg_family | -m ndcg -m ideal_dcg -m dcg -q | All three, without parameters.
        dcg_gains | -m dcg.1=0.5,3=4 -q | Gains.
        ideal_dcg_gains | -m ideal_dcg.-1=9,0=1.5 -q | Unjudged gain is never in the ideal.
        rbp_graded | -m rbp -q | Grades are divided by the highest of the query.
        rbp_p | -m rbp.p=0.5 -q | Persistence as a parameter.
        rbp_p_twice | -m rbp.p=0.5,p=.8 -q | The last p counts.
        rbp_gains | -m rbp.1=0.25,2=0.5,3=1,p=0.8 -q | Gains within 0..1 are kept.
        rbp_gains_rescaled | -m rbp.1=2,2=4,0=-1 -q | Gains outside 0..1 are rescaled.
        rbp_gain_for_unjudged | -m rbp.-1=0.5,-2=.25,3=1,2=1 -q | Codes -1 and -2.
        rbp_p_above_one | -m rbp.p=1.5 -q | p is not checked.
        rbp_resid_and_unj | -m rbp_resid.p=0.7 -m unj.4,1,2 -q | Unjudged documents.
        rbp_resid_and_unj_J | -J -m rbp_resid -m unj -q | -J leaves nothing unjudged.
        """,
        only="10.0",
    )
    names = [word for name in BY_NAME.split() for word in ("-m", name)]
    shows = "Named in reverse, printed in the fixed order."
    case("registry_order", shows, [*names, "qrels", "run"], BASE)
    args = ["-m", "P.4,2,1x", "-mrecall.3", "-m", "map_cut. 7,2", "-m", "ndcg_cut.1,3,2.9", "-q"]
    args += ["-m", "relative_P.2,9", "-m", "success.2,1", "qrels", "run"]
    case("int_cutoffs", "Cutoffs are sorted, text after the digits is ignored.", args, BASE)
    files = both(
        qrels("q: " + " ".join(f"d{i:02}={i % 3 > 0:d}" for i in range(1, 36))),
        run("q: " + " ".join(f"d{i * 7 % 40:02}={99 - i}" for i in range(30))),
    )
    args = "-m iprec_at_recall -m 11pt_avg -m Rprec_mult -q -n qrels run"
    shows = "Targets are rounded in 10.0 and nearly raised in 9.0.8."
    case("recall_targets", shows, args, files)
    files = both(
        qrels("q: a=10 b=9 c=0 d=-1 e=-7 f=11 g=4"),
        run("q: x=9 a=8 b=7 c=6 d=5 e=4 f=3 g=2 y=1"),
    )
    shows = "> above nine, - outside the pool, . for negative judgements."
    case("relstring_codes", shows, "-m relstring -q qrels run", files)
    files = both(
        qrels("q: a=1 b=0 c=-1 d=1 e=-1 f=0 g=1 h=0 i=1; r: a=-3 b=1 c=-1 d=0"),
        run("q: b=20 a=19 x=18 c=17 d=16 y=15 h=14 e=13 g=12 f=11; r: a=4 d=3 c=2 b=1"),
    )
    args = "-m infAP -m bpref -m relstring -m num_nonrel_judged_ret -q qrels run"
    case("sampled_pool", "infAP and bpref with negative judgements.", args, files)
    files = both(qrels("q: a=1 a=1"), run("q: a=2 a=1", "last-run_id"))
    shows = "runid and num_q do not look at the ranking, so its duplicates go unnoticed."
    case("no_ranking_needed", shows, "-m runid -m num_q -q qrels run", files)
    files = both(qrels("q: a=0 b=0"), run("q: a=2 z=1"))
    case("nothing_relevant", "R is 0.", "-m all_trec -m yaap -q -n qrels run", files, only="9.0.8")
    files = both(qrels("q: a=1 b=0 c=2"), run("q: b=2 z=1"))
    case("nothing_found", "No hit.", "-m official -m set -m infAP -m yaap -q -n qrels run", files)


def options():
    """Command line options and their values."""
    m = "-m map -m num_rel -m num_ret -m num_rel_ret -m P.2"
    table(
        BASE,
        f"""
        level_0 | -l 0 {m} -q | Grade 0 is relevant.
        level_2 | -l 2 {m} -m bpref -q | Grade 2 and above is relevant.
        level_4 | --level 4 {m} -m bpref -q | Nothing is relevant.
        level_minus_1 | -l -1 {m} -m set_F -m Rprec -m infAP -m binG -m recip_rank -q | \
            Documents outside the pool count where ranks are walked.
        level_minus_2 | -l-2 {m} -m set_F -m Rprec -m infAP -m binG -m recip_rank -q | \
            Negative judgements too.
        level_and_c | -c -l2 {m} | num_rel of -c ignores -l.
        no_summary | -n | Prints nothing.
        no_summary_q | -nq -m map -m gm_map | Prints queries only.
        debug_query | -D 0.q3 -m map -q | -D restricts to one query.
        debug_query_c | -D .q7 -c -m map -m num_q -m gm_map | -D and -c: all queries are counted.
        debug_query_unknown | -D0.zz | A query that nobody has.
        debug_query_twice | -D 0.q7 -D 0.q3 -D 0 -m map -q | A value without a dot keeps the query.
        debug_query_empty | -D 0. | The query with an empty id.
        judged_only | -J -m map -m set -m infAP -m bpref -m P.3 -m ndcg -m G -q | -J.
        max_retrieved | -M3 -J {m} -m relstring -q | -M before -J.
        max_retrieved_garbage | -M abc -m iprec_at_recall.0,.5 -m 11pt_avg -m Rndcg -m yaap -q | \
            A depth of 0 empties the rankings: 0/0 in two measures.
        repeated_options | -l3 -l1 -M1 -M2 -q -q -c -c {m} | The last value counts.
        values_by_atol | -l=2 -M 2x {m} -q | The value of -l=2 is 0.
        bundled | -qncmP.2 | Bundled flags with an attached value.
        double_dash | -m map -- | -- ends the options.
        option_like_value | -l -1 -m P.1 | A value may look like an option.
        long_options | --meas=map --measure P.2 --qu --Max 3 --lev=2 --nos --Judged --Num=5 | \
            Long options, shortened, with = or a separate value.
        long_formats | --Rel qrels --Res=trec_results --Output_old_results_format x -o -m map | \
            The long names of -R, -T and -o.
        """,
    )
    table(
        HOLES,
        f"""
        missing | {m} -m num_q -q | Judged queries without results.
        missing_c | -c {m} -m num_q -m gm_map -m iprec_at_recall.0,.1 -m gm_bpref -q | \
            Count as 0 with -c; 10.0 prints them too.
        missing_c_params | -c -m utility.1,2,3,4 -m relstring.20 -q | Placeholder, parameters.
        missing_c_gain | -c -m ndcg.-1=2 -m G.-1=1 -q | Placeholder, gain for unjudged documents.
        missing_c_J | -c -J -m iprec_at_recall.0,.5 -q | Placeholder, removed by -J.
        missing_c_level | -c -l -1 -m P.1 -m map -q | Placeholder, relevant by -l.
        missing_debug | -c -D 0.q9 -m map -m num_q -q | Placeholder, selected by -D.
        """,
    )
    args = "-c -m yaap -m utility -m relstring -m rbp_resid -m unj -q qrels run"
    case("missing_c_placeholder", "What it leaves behind.", args, HOLES, only="10.0")
    args = "-c -m rbp_resid.p=0.5 -m unj.1 -q qrels run"
    case("missing_c_rbp_resid", "Kept with a parameter.", args, HOLES, only="10.0")
    files = both(qrels("q1: a=1; q2: b=1"), run("q3: a=1"))
    case("no_common_query", "No query in common.", "qrels run", files)
    case("no_common_query_c", "With -c.", "-c -m set -m gm_map qrels run", files)
    files = both(qrels("a.b: x=1; a: x=0"), run("a.b: x=1; a: x=1"))
    case("debug_query_dots", "The id begins after the first dot.", "-D.a.b -mP.1 qrels run", files)
    case("options_after_files", "Options may follow.", "qrels -m map run -q", SMALL)
    case("double_dash_option", "A file after --.", "-m map -- qrels run -q", SMALL)


def usage_errors():
    """Getopt errors, unknown names, wrong parameters, files that cannot be read."""
    table(
        SMALL,
        """
        no_arguments | | No argument: usage.
        one_file | qrels | One file: usage.
        three_files | qrels run run | Three files: usage.
        unknown_short | -x qrels run | An unknown short option.
        unknown_in_bundle | -qk qrels run | An unknown option in a bundle.
        unknown_long | --nonesuch qrels run | An unknown long option.
        unknown_long_value | --nonesuch=3 qrels run | An unknown long option with a value.
        ambiguous_long | --Re qrels qrels run | A prefix of two long options.
        long_case | --Measure map qrels run | Long options are case sensitive.
        short_without_value | qrels run -m | The value of -m is missing.
        long_without_value | qrels run --Max | The value of --Max is missing.
        long_o_without_value | qrels run --Out | The long form of -o wants a value.
        long_unwanted_value | --query=1 qrels run | --query takes no value.
        measure_unknown | -m MAP qrels run | An unknown measure.
        measure_unknown_params | -m foo.3 qrels run | An unknown measure with parameters.
        measure_dot_only | -m . qrels run | A dot and nothing else.
        measure_prefix | -m recip qrels run | Measure names cannot be shortened.
        measure_all_qrels | -m all_qrels qrels run | Named in the usage text, but unknown.
        measure_empty_params | -m P. qrels run | A dot without parameters.
        first_error_wins | -m nope -x qrels run | The first bad option ends the run.
        params_zero_cutoff | -m P.5,0 qrels run | A cutoff of 0.
        params_negative_cutoff | -m success.-1 qrels run | A negative cutoff.
        params_empty_item | -m recall.5,,10 qrels run | An empty item is a cutoff of 0.
        params_duplicates | -m ndcg_cut.5,10,5.5 qrels run | The same cutoff twice.
        params_double_duplicates | -m iprec_at_recall..5,0.50 qrels run | Equal numbers.
        params_no_pair | -m ndcg.1=2,3 qrels run | A pair without =.
        params_two_equals | -m G.1=2=3 qrels run | A pair with two =.
        params_first_measure | -m G.1 -m P.0 qrels run | First in the fixed order.
        params_after_files | -m P.0 qrels nofile | Files are read before parameters are checked.
        rel_format_unknown | -R trec qrels nofile | An unknown relevance format.
        results_format_unknown | -T letor qrels nofile | An unknown run format.
        results_format_late | -T letor noqrels run | The qrels are read first.
        missing_qrels | no/such/file run | No such relevance file.
        missing_run | qrels no/such/file | No such run.
        directory_as_qrels | . run | A directory as relevance file.
        directory_as_run | qrels . | A directory as run.
        missing_qrels_jg | -R qrels_jg nofile run | No such file, qrels_jg.
        missing_prefs | -R prefs nofile run | No such file, prefs.
        missing_qrels_prefs | -R qrels_prefs nofile run | No such file, qrels_prefs.
        prefs_measure_on_qrels | -m map -m prefs_simp -q qrels run | Wrong format.
        jg_measure_on_qrels | -m map -m P_avgjg -q qrels run | Wrong format.
        qrels_measure_on_jg | -R qrels_jg -m runid -m map qrels run | Wrong format.
        qrels_measure_on_prefs | -R qrels_prefs -m Rprec qrels run | Wrong format.
        prefs_measure_on_jg | -R qrels_jg -m all_prefs qrels run | Wrong format.
        jg_measure_on_prefs | -R qrels_prefs -m qrels_jg qrels run | Wrong format.
        official_on_jg | -R qrels_jg -q qrels run | Wrong format, nothing printed.
        version | -q -v -x | -v stops at once.
        version_after_error | -m nope -v | An earlier error wins.
        version_long | --ver qrels run | --version, shortened.
        help_after_bad_option | -h -x | Options are parsed to the end before help.
        help_after_bad_measure | -h -m nope | Measures are checked before help.
        """,
        tail="",
    )
    case("measure_empty", "An empty measure name.", ["-m", "", "qrels", "run"], SMALL)
    case("help", "Help goes to stdout.", "-h", {}, text=False)
    case("help_measures", "About measures.", "-m all_trec --help nofile", {}, text=False)
    case("help_formats", "Unknown formats.", "-hR x -T y -m prefs", {}, text=False)


SCORES = """
    number_forms | 1 1.0 1e0 0x1p0 +1 10e-1 0X.8p1 01 1,5 | Forms of one number.
    garbage | x 0 1 .5 1x . e5 0x - | Not a number is 0.
    garbage_signs | - +-1 -1 1e 1e+ 1.e1 0x1.8 --2 2.5.5 | Signs, text after the digits.
    infinite | inf -inf 1e400 INFINITY 3 -1e999 infinit i -3 | Infinities and overflow.
    nan | nan 2 NAN 1 3 nan(x) 0 -nan 1 | NaN is ordered by document against everything.
    nan_last | 5 4 6 2 8 7 3 1 nan | NaN at the end of the list.
    zeros | -0 0 -0.0 1e-400 -1e-400 0x0 +0 0e9 -1e-46 | 0 and -0 are equal.
    float_range | 1e38 1e39 4e38 1e300 1e-45 1e-46 0 -1e39 1e-44 | Beyond the range of float.
    exponents | 12e-1 1.2E0 0.12e+1 120e-2 1.2e00 1.2000001 1.20000001 1.3e 0xA | Exponents.
    hex_floats | 0x1.8p1 3.1 0x.1p+5 0x10 0x1p-1 0xap-2 0x1P4 0x1p 0x1.g | Hex floats.
    float_ties | 0.30000001 0.3 0.300000012 16777216 16777217 16777218 0.49999999 0.5 0.50000003 | \
        Equal as float, different as double.
    long_digits | 0.1234567890123456789 0.1234567890123456788 0.12345678901234568 \
        1234567890123456789 1234567890123456768 1234567890123456789.0000001 9007199254740993 \
        9007199254740992 0.3000000000000000444089209850062616169452667236 | Many digits.
"""


def lexical():
    """How files are read."""
    nine = qrels("t: a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9")  # so relstring tells the order
    args = "-m relstring -m num_ret -n -q qrels run"
    for row in SCORES.replace("\\\n", "").strip().splitlines():
        name, text, shows = map(str.strip, row.split("|"))
        items = " ".join(map("=".join, zip("abcdefghi", text.split(), strict=True)))
        case("score_" + name, shows, args, both(nine, run("t: " + items)))
    files = both(
        "t\t0\ta\t1\r\n  t\x0b0 b \x0c 2\t \r\nt 0 c 3",
        "t\tQ0\ta\t1\t1.5\tid\r\n \x0bt Q0  c 2\x0c2.5 id \r\nt Q0 b 3 2 id",
    )
    case("white_space", "CRLF, tabs, VT, FF, blanks around, no last newline.", args, files)
    files = both("t 0 a 1\n", "t Q0 a 1 1 id\rt Q0 b 2 0 id\r")
    case("cr_only", "CR alone is a blank: the second line becomes extra fields.", args, files)
    text = "\n \t\r\nt Q0 a 1 3 first more words\n\x0b\nt Q0 b 2 2 last # words\n\n"
    shows = "Fields after the sixth and lines of blanks are ignored in a run."
    case("run_extra_fields", shows, "-m runid " + args.replace("-n ", ""), both(nine, text))
    text = RUN + "zz x y z 1 caf\xc3\xa9\xff 7\n" + "q3 x zzz z -1 \x01last\n\n"
    shows = "runid is that of the last line of the file, whatever its query."
    case("run_id_of_last_line", shows, "-m runid -m map qrels run", both(QRELS, text))
    text = "t x b one 2 id\nt # a -7 1 id\nt 0 c 99999999999999999999 3 id\n"
    case("rank_ignored", "The rank and the second field may be anything.", args, both(nine, text))
    files = both(
        "b 0 x 1\na 0 x 0\nb 0 y 0\na 0 y 2\nc 0 z 1\nb 0 a 3\n",
        "a Q0 y 1 1 id\nb Q0 y 1 3 id\na Q0 x 2 3 id\nc Q0 z 1 0 id\nb Q0 a 2 2 id\n",
    )
    shows = "Lines of a query need not be together, in either file."
    case("scattered_queries", shows, "-m map -m relstring -q qrels run", files)
    ids = ("1", "10", "2", "002", "Z", "_", "a", "B", "a.b", "\xe9", "\xc3\xa9", "#", ":x")
    files = both("".join(f"x{i} 0 d 1\n" for i in ids), "".join(f"x{i} 0 d 1 1 r\n" for i in ids))
    case("query_order", "Queries come in the order of their bytes.", "-mP.1 -nq qrels run", files)
    files = both("t 0 a 1\n", "\xef\xbb\xbft 0 a 1 2 r\nt 0 b 1 1 r\n")
    case("byte_order_mark", "It belongs to the first query id.", "-m num_ret -q qrels run", files)
    files = both(
        qrels("t: a=1 B=2 b=3 ab=4 \xff=5 ~=6 10=7 9=8"),
        run("t: B=1 a=1 10=1 9=1 ab=1 \xff=1 ~=1 b=1"),
    )
    case("ties_by_document", "Equal scores: larger id first, by bytes.", args, files)
    files = both(
        qrels("t: a=1.9 b=1e3 c=x2 d=+2 e=-0 f=0x3 g=2,5 h=--1 i=007 j=-1.5"),
        run("t: a=20 b=19 c=18 d=17 e=16 f=15 g=14 h=13 i=12 j=11"),
    )
    shows = "Grades are read as integers from the start of the field."
    case("grades_by_atol", shows, "-m relstring -m num_rel -q qrels run", files)
    files = both(
        f"{'q' * 60} {'i' * 300} {'d' * 500} 1\n",
        f"{'q' * 60} x {'d' * 500} 1{'0' * 300} 1.{'0' * 500}1 {'r' * 300}\n",
    )
    shows = "Long query ids, document ids and numbers."
    case("long_words", shows, "-m map -m runid -q qrels run", files)
    files = both(" # 0 a 1\nq 0 #b 1\nq 0 c 1#\n", run("q: #b=1 c=2"))
    shows = "In relevance files only # in the first column begins a comment."
    case("comment_not_at_line_start", shows, "-c -m num_rel -m P.2 qrels run", files)
    table(
        both("# about q7\n" + QRELS.replace("q3", "#\nq3", 1), "# x\n" + RUN + "\t# y\n#\n# z z"),
        """
        comments | -m map -q | Comment lines in both files.
        comments_and_error | -m nope | An error before the files are read.
        """,
        only="10.0",
    )
    files = both("# one\nq 0 a 1\n# two\nq 0 b\n", RUN)
    shows = "The line number of an error counts data lines only."
    case("comments_not_counted", shows, "qrels run", files, only="10.0")
    for name, text in (("lf", RUN), ("crlf", RUN.replace("\n", "\r\n")[:-2])):
        args = "-m map -m runid -q qrels -"
        case(
            "stdin_" + name, "The run from stdin.", args, {"qrels": QRELS}, stdin=text, only="10.0"
        )
    small = SMALL["qrels"], SMALL["run"]
    for name, shows, q, r in (
        ("empty_run", "An empty run cannot be read.", small[0], ""),
        ("empty_qrels", "An empty relevance file cannot be read.", "", small[1]),
        ("run_five_fields", "Too few fields.", small[0], small[1] + "q7 Q0 cow 9 1\n" + RUN),
        ("run_five_fields_blank", "A blank at the end is no field.", small[0], "q 0 a 1 2 \n"),
        ("run_one_field", "Too few fields.", small[0], "\n\nq7\n"),
        ("run_line_number", "Blank lines do not count.", small[0], "\n" + RUN + "\nq\n"),
        ("qrels_three_fields", "Too few fields.", QRELS + "q7 0 cow\n", small[1]),
        ("qrels_three_fields_blank", "A blank at the end is no field.", "q 0 a \n", small[1]),
        ("qrels_five_fields", "Too many fields.", "q 0 a 1\nq 0 b 1 5\n", small[1]),
        ("qrels_blank_line", "Not allowed in qrels.", "q 0 a 1\n\nq 0 b 1\n", small[1]),
        ("qrels_last_line_blank", "Also not at the end.", small[0] + "\n", small[1]),
    ):
        case(name, shows, "qrels run", both(q, r))


def duplicates():
    """Documents that occur twice."""
    q, r = qrels("q1: a=1 b=0; q2: a=1 b=0"), run("q1: a=2 b=1; q2: a=2 b=1")
    table(
        both(q, r + "q2 0 a 1 0 x\n"),
        """
        run_twice | -m map -q | Exit status 4, after the earlier queries were printed.
        run_twice_beyond_M | -M2 -m map -q | Documents below the cut do not matter.
        run_twice_measure | -m set_P -m P.1 -m num_q | The first measure that fails is named.
        """,
    )
    files = both(q, r + run("q3: a=1 a=1"))
    case("run_twice_not_judged", "In a query without judgements.", "-m map -q qrels run", files)
    table(
        both(q + "q2 0 a 0\n", r),
        """
        qrels_twice | -m num_q -m map -q | Exit status 4.
        qrels_twice_not_evaluated | -D 0.q1 -m map -q | In a query that -D leaves out.
        """,
    )


def other_formats():
    """qrels_jg, prefs, qrels_prefs."""
    jg = judged(
        "q1 x: a=1 b=0 c=2 d=1; q1 y: a=0 b=3 e=1; q1 Z: a=-1 f=-2; q2 x: g=1 h=0; q2 1: h=1"
    )
    found = run("q1: b=9 z=8 a=7 e=6 d=5 c=4; q2: h=3 g=3")
    table(
        both(jg, found),
        """
        jg | -m qrels_jg -q | Judgement groups.
        jg_options | -l2 -J -M4 -m map_avgjg -m P_avgjg.1,2 -m Rprec_mult_avgjg.1,.5 -q | Options.
        jg_level_minus | -l-1 -m map_avgjg -m P_avgjg.3 -q | A negative level.
        jg_bad_params | -m P_avgjg.0 -q | A bad cutoff.
        """,
        tail="-R qrels_jg qrels run",
    )
    args = "-R qrels_jg -m map_avgjg -m P_avgjg.1 -q qrels run"
    files = both(jg + "q3 x a 1\nq3 y a 0\n", found)
    case("jg_missing_c", "A judged query without results.", "-c " + args, files)
    case("jg_twice", "Twice in a group: exit status 2.", args, both(jg + "q2 x g 1\n", found))
    case("jg_run_twice", "Twice in the run.", args, both(jg, found + "q2 x h 1 1 r\n"))
    case("jg_malformed", "Three fields.", args, both(jg + "q2 x g\n", found))

    found = run(
        "q1: c=9 x=8 a=7 e=7 b=6 h=5; q2: n=5 b=4 a=4 p=4 o=3; q3: a=1 b=0; q4: d=4 c=3 b=2 y=1"
    )
    arrays = judged(
        "q1 g s1: a=3 b=2 c=1; q1 g s2: c=2 d=1; q1 g s3: e=5 a=1; q1 h s1: d=2 a=1;"
        "q2 g s: m=1 n=1; q2 g t: n=2 o=1 p=0; q3 g s: a=0 b=0;"
        "q4 g A: a=2 b=1 c=0; q4 g B: d=1 b=1"
    )
    table(
        both(arrays, found),
        """
        prefs_arrays | -m all_prefs -q | Several subgroups: transitive closure.
        prefs_M | -M2 -l3 -J -m all_prefs -q | -M cuts the ranking, -l and -J change nothing.
        prefs_M0 | -M0 -m all_prefs | Nothing retrieved.
        prefs_nickname | -m prefs -m runid -m num_q | The smaller set.
        """,
        tail="-R prefs qrels run",
    )
    args = "-R prefs -m all_prefs -q qrels run"
    text = arrays + judged("q9 g s: a=2 b=1 c=0")
    case("prefs_missing_c", "No results.", "-c " + args, both(text, found))
    for name, shows, spec in (
        (
            "classes",
            "One subgroup: preferences between levels.",
            "q1 g s: a=3 b=2 c=2 d=1 e=0 f=0 h=-1; q2 g s: a=1 b=0; q2 k s: b=2 a=1 z=1",
        ),
        ("floats", "Levels equal as float.", "q1 g s: a=0.30000001 b=0.3 c=0x1p1 e=20e-1 h=x"),
        ("infinite", "Infinite levels.", "q1 g s: a=inf b=1e400 c=1 e=-inf"),
        ("twice", "A repeated line counts again.", "q1 g s: a=1 a=1 b=2 b=2 c=0"),
        ("twice_arrays", "Counts once with subgroups.", "q1 g s: a=1 a=1 b=2; q1 g t: c=1 a=1"),
        ("two_levels", "A document at two levels: exit status 4.", "q1 g s: a=1 b=2 a=3"),
        ("zero_and_one", "Levels 0 and 1: exit status 4.", "q1 g s: a=0 b=2; q1 g t: a=1 c=2"),
        ("minus_three", "All levels are -3.", "q1 g s: a=-3 b=-3; q1 h s: a=-3 b=-2"),
        ("opposite_groups", "Groups may contradict.", "q1 g s: a=2 b=1; q1 h s: b=2 a=1 c=0"),
        (
            "more_nonrel",
            "More nonrelevant than relevant documents, both forms.",
            "q1 g s: a=1 b=0 c=0 x=0 w=0 v=0; q2 g s: a=2 n=0 u=0; q2 g t: b=1 o=0 p=0;"
            "q4 k s: d=1 c=2 b=0 t=0 y=0",
        ),
        (
            "more_rel",
            "More relevant than nonrelevant documents, both forms.",
            "q1 g s: a=1 b=2 c=0 x=3; q2 g s: a=2 n=0; q2 g t: b=1 o=4",
        ),
    ):
        case("prefs_" + name, shows, args.replace("-q", "-qn"), both(judged(spec), found))
    files = both(judged("q1 g s: a=1 b=2 c=3"), run("q1: c=1 a=1 b=1"))
    case("prefs_ties", "Equal scores: the smaller document id first.", args, files)
    case("prefs_run_twice", "In the run.", args, both(arrays, found + "q2 x n 1 1 r\n"))
    below = "A 0 s a -3\nA 0 s b -4\nA 0 s c -5\nA 1 s a 2\nA 1 s b 1\n"
    ranked = "A 0 a 1 2 t\nA 0 b 2 1 t\n"
    case("prefs_first_level_minus_three", "The last class is left out.", args, both(below, ranked))
    case("prefs_malformed", "Four fields.", args, both("q g s a 1\nq g a 1\n", found))
    case("prefs_blank_line", "A blank line.", args, both("q g s a 1\n\n", found))
    args = "-R qrels_prefs -m all_prefs -q qrels run"
    text = judged("q1 g: a=3 b=2 c=2 d=0 x=0; q1 h: b=1 c=0; q2 0: n=1 o=0 p=0; q2 1: a=0 b=0")
    case("qrels_prefs", "Preferences from qrels.", "-c " + args, both(text, found))
    case("qrels_prefs_two_levels", "Exit status 4.", args, both(text + "q2 1 a 2\n", found))
    case("qrels_prefs_malformed", "Five fields.", args, both(text + "q2 1 s a 2\n", found))


def zscores():
    """-Z."""
    text = (
        "q12 map 0.5 0.25\nq12 num_ret 3 0\nq12 P_2 .1 .2\nq12 zz 0 1\n"
        "q3 map .25 -0.5\nq3 num_ret 4 0\nq3 P_2 .1 .2\nq3 recip_rank 0 1e-3\nq3 zz 0 1\n"
        "q7 gm_map -1 0.5\nq7 map 1e-1 2\nq7 num_ret 5 0\nq7 zz 0 1\nz zz 0 1\n"
    )
    shuffled = "".join(sorted(text.splitlines(keepends=True), key=lambda line: line[::-1]))
    m = "-m map -m P.2 -m num_ret -m gm_map -m runid -m relstring -m num_q -m num_rel"
    table(
        both(QRELS, RUN, z=text, shuffled=shuffled, three=text + "q7 x 1\n", blank=text + "\n")
        | {"five": "q7 x 1 2 3\n" + text, "empty": ""},
        f"""
        zscores | -Z z {m} -q | With missing entries and deviation 0.
        zscores_c | -Z z -c {m} | With -c.
        zscores_any_order | -Z nofile -q -Z shuffled {m} | Any order; the last -Z counts.
        zscores_three_fields | -Z three | Exit status 255.
        zscores_five_fields | -Z five | Exit status 255.
        zscores_blank_line | --Zscore blank | Exit status 255.
        zscores_empty_file | -Z empty | Exit status 255.
        """,
    )
    table(
        SMALL,
        """
        zscores_no_file | -Z nofile qrels run | Exit status 255.
        zscores_after_run | -Z nofile qrels nofile | The run is read first.
        zscores_before_params | -Z nofile -m P.0 qrels run | Parameters are checked later.
        """,
        tail="",
    )


def random_files(
    seed, queries, depth, *, form="qrels", missing=True, grades=(-1, 0, 0, 0, 1, 2, 3)
):
    """Random relevance information and a run, with ties, scores that differ only as doubles,
    scattered lines and, with `missing`, queries that only one of the files has."""
    rng = random.Random(seed)
    rel, found = [], []
    for number in range(queries):
        qid = str(number * 37 % 101)
        docs = [f"D{i}" for i in rng.sample(range(3 * depth), 2 * depth)]
        base = rng.choice([0.3, 7, 1e3])
        if not missing or number % 6 != 1:
            for doc in docs[:depth]:
                score = base * (1 + rng.randrange(depth // 2) * rng.choice([1e-9, 1e-7, 1e-2]))
                found.append(f"{qid} 0 {doc} 0 {score!r} s{seed}\n")
        if missing and number % 6 == 3:
            continue
        for doc in rng.sample(docs, depth):
            grade = rng.choice(grades)
            if form == "qrels":
                rel.append(f"{qid} 0 {doc} {grade}\n")
            elif form == "qrels_jg":
                for group in rng.sample("abc", rng.randint(1, 2)):
                    rel.append(f"{qid} {group} {doc} {rng.choice(grades)}\n")
            elif form == "qrels_prefs":
                rel.append(f"{qid} {rng.choice('xy')} {doc} {max(grade, 0)}\n")
            else:
                level = max(grade, 0)
                if level:
                    level += rng.choice([0, 0, 1e-9, 0.5])
                for sub in sorted(rng.sample("12", rng.randint(1, 2))):
                    rel.append(f"{qid} g{docs.index(doc) % 2} {sub} {doc} {level:.10g}\n")
    rng.shuffle(rel)
    rng.shuffle(found)
    return both("".join(rel), "".join(found))


def larger():
    """Random inputs."""
    files = random_files(1, 10, 26)
    case("random_all_trec", "Random inputs.", "-m all_trec -q qrels run", files)
    case("random_all_trec_c", "Random inputs, -c.", "-m all_trec -c qrels run", files)
    args = "-m all_trec -q -n -l2 -c -J -M7 qrels run"
    case("random_all_trec_options", "Random inputs, many options.", args, random_files(2, 4, 20))
    args = "-R qrels_jg -m qrels_jg -q -c qrels run"
    case("random_jg", "Random judgement groups.", args, random_files(3, 5, 12, form="qrels_jg"))
    args = "-R qrels_jg -m qrels_jg -q -l2 -J -M5 qrels run"
    files = random_files(4, 4, 12, form="qrels_jg", missing=False)
    case("random_jg_options", "Random judgement groups, options.", args, files)
    args = "-R prefs -m all_prefs -q -c qrels run"
    case("random_prefs", "Random preferences.", args, random_files(5, 6, 8, form="prefs"))
    args = "-R qrels_prefs -m all_prefs -q qrels run"
    files = random_files(6, 5, 15, form="qrels_prefs", missing=False)
    case("random_qrels_prefs", "Random preferences from qrels.", args, files)
    args = (
        "-m ndcg.1=1,2=2.5,3=7 -m G.2=.5 -m Rndcg.1=3,3=1 -m ndcg_rel.-1=.5 -m yaap -m infAP"
        " -m binG -m iprec_at_recall..33,.66 -m 11pt_avg..2,.9 -m Rprec_mult..5,1.5 -m bpref "
        " -m set_F.2 -m utility.3,-1,0,0 -m map_cut.3,30 -m relstring.15 -m gm_bpref -q qrels run"
    )
    files = random_files(7, 6, 20, missing=False, grades=(-2, -1, 0, 0, 1, 1, 2, 3, 4, 12))
    case("random_parameters", "Random inputs and parameters of every kind.", args, files)


def expectation(program, spec):
    """Run one program on one case; None where its result is one that we differ from."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in spec["files"].items():
            (Path(folder) / name).write_bytes(text.encode("latin-1"))
        done = subprocess.run(
            ["trec_eval", *spec["args"]],
            executable=program,
            cwd=folder,
            input=(spec["stdin"] or "").encode("latin-1"),
            capture_output=True,
            timeout=60,
            check=False,
        )
    first = done.stderr.decode("latin-1").split("\n")[0]
    if done.returncode == 4 and first.endswith("not found in qrels"):
        return None
    if done.returncode < 0:
        raise SystemExit(f"{spec['name']}: killed by signal {-done.returncode}")
    out = done.stdout.decode("latin-1") if spec["text"] else None
    return {"exit": done.returncode, "stdout": out, "stderr": first}


def main():
    """Record all cases."""
    parser = argparse.ArgumentParser(description="Record the results of the original programs.")
    parser.add_argument("--v908", required=True, help="trec_eval of the tag v9.0.8")
    parser.add_argument("--v10", required=True, help="trec_eval of the tag v10.0")
    given = parser.parse_args()
    programs = {"9.0.8": given.v908, "10.0": given.v10}
    for section in (measures, options, usage_errors, lexical, duplicates, other_formats, zscores):
        section()
    larger()
    names = [spec["name"] for spec in CASES]
    if len(set(names)) != len(names):
        raise SystemExit(f"names used twice: {sorted({n for n in names if names.count(n) > 1})}")
    out = []
    for spec in CASES:
        expect = {}
        for level in LEVELS if spec["only"] is None else (spec["only"],):
            result = expectation(str(Path(programs[level]).resolve()), spec)
            if result is not None:
                expect[level] = result
        if not expect:
            raise SystemExit(f"{spec['name']}: no level has a result")
        record = {key: spec[key] for key in ("name", "shows", "args", "files")}
        if spec["stdin"] is not None:
            record["stdin"] = spec["stdin"]
        out.append(json.dumps(record | {"expect": expect}))
    text = "[\n" + ",\n".join(out) + "\n]\n"
    (Path(__file__).parent / "cases.json").write_text(text, encoding="ascii")
    print(f"{len(out)} cases, {len(text)} bytes")


if __name__ == "__main__":
    main()
