"""What commands refuse: the exit status, the message, and that no file appears or changes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.commands import assert_refused, write
from tests.helpers.tables import cases

FILES = {
    "a.run": "q Q0 d1 1 3.0 a\nq Q0 d2 2 2.0 a\n",
    "b.run": "q Q0 d2 1 9.0 b\nq Q0 d3 2 8.0 b\np Q0 d3 1 8.0 b\n",
    "infinite.run": "q Q0 d1 1 inf a\n",
    "bad.run": "q0000 Q0 d\n",
    "unjudged.run": "unknown Q0 a 1 3 t\n",
    "unscored.csv": "query_id,doc_id\nq1,a\n",
    "one.qrels": "1 0 a 1\n",
    "twice.qrels": "1 0 a 1\n1 0 a 1\n",
    "one.run": "1 Q0 a 1 3 t\n",
    "twice.run": "1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n1 Q0 a 3 1 t\n",
    "high.qrels": "1 0 a high\n",
    "nan.run": "1 Q0 a 1 nan t\n",
    "comma.run": "1 Q0 a 1 0,9 t\n",
    "means.csv": "run,query,measure,value\na,,map,0.5\nb,,map,0.25\n",
    "text.csv": "run,query,measure,value\na,,map,x\n",
    "second.csv": "run,query,measure,value\na,,map,1\na,,map,2\n",
    "short.csv": "run,query,measure,value\na,,map\n",
    "ndcg.csv": "run,query,measure,value\na,,ndcg,1\n",
    "fewer.csv": "run,query,measure,value\na,,map,1\n",
    "others.csv": "run,query,measure,value\nc,,map,1\nd,,map,2\n",
    "label.csv": "qid,docno,label\nq,d,x\n",
    "clusters.txt": "q0000 a\n",
    "no_clusters.txt": "q0000\n",
    "out.csv": "old",
    "qrels": "q1 0 d2 1\nq2 0 d1 1\n",
    "qrels2": "q1 0 d2 0\n",
    "run": "q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.8 t\nq2 Q0 d1 1 0.5 t\n",
    "lacking.jsonl": '{"_id": "d1", "text": "x"}\n',
    "differing.jsonl": '{"_id": "d1", "text": "x"}\n{"_id": "d1", "text": "y"}\n',
    "broken.jsonl": '{"_id": "d1",\n',
    "docs.txt": "".join(f"doc{i}\n" for i in range(300)),
    "asked.txt": "".join(f"q{i}\n" for i in range(10)),
    "qrels.txt": "".join(f"q{i} 0 doc{i} 1\n" for i in range(10)),
    "others.txt": "q1 0 x 1\n",
    "baseline.json": "{}",
    "spans.csv": "query,document,start,end\nq1,a,3,9\nq1,a,20,24\n",
    "wrong.spans": "query,document,start,end\nq1,a,9,3\n",
    "chunks.csv": "chunk,document,start,end\nc1,a,0,10\nc2,a,8,18\nc3,a,16,26\n",
    "texts.jsonl": '{"id": "c1", "document": "a", "text": "one"}\n',
}
# Words of the command lines below.
SHORT = {
    "ALL": "digits.qrels pixels.run pca.run profile.run",
    "TWO": "digits.qrels pixels.run pca.run",
    "ONE": "digits.qrels profile.run",
    "VECTORS": "--corpus corpus.npy --queries queries.npy",
    "IDS": "--corpus-ids docs.txt --query-ids asked.txt",
}
# A command line; the exit status and the message, in which ... stands for any text.
REFUSED = """
check --columns query=x ONE => 2 --columns: no table has the columns 'x'
compare --columns query=x ONE => 2 --columns: no table has the columns 'x'
convert --columns query=x pca.run out.csv => 1 --columns: no table has the columns 'x'
eval --columns query=x -o out.csv ONE => 2 --columns: no table has the columns 'x'
fuse --columns query=x pca.run pca.run => 2 --columns: no table has the columns 'x'
gate save --columns query=x -o out.json ONE => 2 --columns: no table has the columns 'x'
hard-negatives --columns query=x ONE => 2 --columns: no table has the columns 'x'
inspect --columns query=x -o out.html ONE => 2 --columns: no table has the columns 'x'
agree --systems means.csv pca.run => 1 pca.run: no columns for system, measure, value: found...
agree --systems means.csv text.csv => 1 text.csv:2: column 'value': expected a number...
agree --systems means.csv second.csv => 1 second.csv:3: run 'a' has a second mean of 'map'...
agree --systems means.csv short.csv => 1 short.csv:2: expected 4 cells, as in the first...
agree --systems means.csv ndcg.csv => 1 the files have no measure in common: map and ndcg
agree --systems means.csv fewer.csv => 1 ...only means.csv has 'b'
agree --systems means.csv others.csv => 1 ...means.csv has 'a', 'b' and only others.csv has 'c', 'd'
agree -p 1 pixels.run pca.run => 2 p: expected a number between 0 and 1...
agree --depth 5 --systems means.csv means.csv => 2 --depth: no effect with --systems
agree --trec-eval-version 10.0 --systems means.csv means.csv
  2 --trec-eval-version: no effect with --systems
agree -o out.jsonl pixels.run pca.run => 2 ...cannot be written in the format of .jsonl files...
agree -o out.parquet.gz pixels.run pca.run
  2 ...cannot be written in the format of .parquet files...
agree -o out.docx pixels.run pca.run => 2 ...cannot be written in the format of .docx files...
explain --query q0004 -o e.docx ONE => 2 ...cannot be written in the format of .docx files...
check -o c.pdf ONE => 2 ...cannot be written in the format of .pdf files...
compare --report x.pdf ALL
  2 --report: x.pdf cannot be written in the format of .pdf files; use a name that ends in .html...
compare --save s.docx ALL => 2 --save: s.docx cannot be written in the format of .docx files...
gate save -o base.pdf ONE => 2 --output: base.pdf cannot be written in the format of .pdf files...
inspect -o z.pdf ONE => 2 --output: z.pdf cannot be written in the format of .pdf files...
inspect -o zz.md ONE => 2 --output: zz.md cannot be written in the format of .md files...
hard-negatives -o h.pdf ONE => 2 --output: h.pdf cannot be written in the format of .pdf files...
plan --plan p.pdf pixels.run => 2 --plan: p.pdf cannot be written in the format of .pdf files...
search -o s.pdf.gz VECTORS => 2 --output: s.pdf.gz cannot be written in the format of .pdf files...
search -o s.run --save-index i.json VECTORS
  2 --save-index: i.json cannot be written in the format of .json files...
eval-embeddings --run r.csv --qrels digits.qrels VECTORS
  2 --run: r.csv cannot be written in the format of .csv files...
convert --number-queries n.html digits.qrels out.csv
  1 --number-queries: n.html cannot be written in the format of .html files...
agree pixels.run none.run => 1 none.run: no such file or directory
agree -o out.csv pixels.run a.run
  1 the runs share no query: they have 200 queries ('q0000', 'q0001', 'q0002', ...) and 1 query
    ('q')

compare -m mapp ALL => 2 unknown measure 'mapp'...
compare --sort P_5 ALL => 2 ...'P_5' is not compared...
compare --alpha 2 ALL => 2 alpha: expected a number between 0 and 1, found 2.0
compare --digits 2 --format csv ALL => 2 --digits: no effect with --format csv...
compare --sort map -q ALL => 2 --sort: no effect with --format table and -q...
compare --ascii --format html ALL => 2 --ascii: no effect with --format html...
compare --largest 2 --percent ALL => 2 --percent: no effect with --format table...
compare --pair pca pixels ALL => 2 --pair: no effect without --largest, -q...
compare -q --pair pca x ALL => 2 ...'x' is not one of the systems...
compare --largest 2 digits.qrels pixels.run => 2 pair: needs two systems, found 1...
compare --name a ALL => 2 --name: expected one for each of 3 runs, found 1
compare none.qrels pixels.run pca.run => 2 none.qrels: no such file or directory
compare digits.qrels none.run pixels.run => 1 none.run: no such file or directory...
compare -q --pairs ALL => 2 usage: ...not allowed with argument...
compare -o out.csv digits.qrels pixels.run bad.run
  1 bad.run:1: ...
    1 of 2 runs could not be evaluated; nothing was written
compare -o none/out.csv digits.qrels none.run
  1 cannot write none/out.csv: No such file or directory
compare --plot-kind scatter none none => 2 --plot-kind: no effect without --plot
compare --plot a.jpg none none => 2 plot: a.jpg: expected a suffix .png, .svg, .pdf
compare -o x --report x none.qrels none.run => 2 --report: x is also the file of -o; name another
compare -o x.svg --format table --plot ./folder/../x.svg none.qrels none.run
  2 --plot: ./folder/../x.svg is also the file of -o; name another
compare -o x.html --report x.html none.qrels none.run
  2 --report: x.html is also the file of -o; name another
compare --report x --save link none.qrels none.run
  2 --save: link is also the file of --report; name another
compare --report - none.qrels none.run => 2 --report: - is also the file of -o; name another
compare --save saved.json -b pca -b pixels ALL => 2 --save: needs one run, or one --baseline...
compare --save saved.json -R prefs digits.qrels pixels.run
  2 --save: a gate does not read prefs...
compare --clusters no_clusters.txt --test=randomization --interval=none ALL
  2 no_clusters.txt:1: expected 2 fields (query cluster), found 1...
compare --clusters clusters.txt --test=randomization --interval=none ALL
  1 clusters: no cluster for 199 of 200 queries...

compare-indexes VECTORS 'SQ8 nprobe=3' -o out.txt
  2 indexes: 'SQ8 nprobe=3': nprobe=3: unknown parameter...
compare-indexes VECTORS IVF400,Flat -o out.txt
  2 ...'IVF400,Flat' needs at least 400 training vectors, found...
compare-indexes VECTORS --plot p.jpg SQ8 -o out.txt => 2 plot: p.jpg: expected a suffix .png...
compare-indexes VECTORS --plot - SQ8 => 2 plot: -: expected a suffix .png, .svg, .pdf...
compare-indexes VECTORS --plot ./out.svg SQ8 -o out.svg --format table
  2 --plot: ./out.svg is also the file of -o...
compare-indexes VECTORS IDS --qrels qrels.txt -m mapp SQ8 -o out.txt => 2 unknown measure 'mapp'...
compare-indexes VECTORS -m AP SQ8 -o out.txt => 2 --measure: requires --qrels
compare-indexes VECTORS -k 0 SQ8 -o out.txt => 2 k: expected 1 or more, found 0
compare-indexes VECTORS --qrels none.txt SQ8 -o out.txt => 1 none.txt: no such file or directory
compare-indexes --corpus none.npy --queries queries.npy SQ8 -o out.txt
  1 none.npy: no such file...
compare-indexes VECTORS -k 5 --plot none/out.svg SQ8
  1 cannot write none/out.svg: No such file or directory
compare-indexes VECTORS -k 5 --repetitions 1 -o folder SQ8 => 1 cannot write folder: Is a directory

convert --format csv --number-queries x one.run ./x
  2 --number-queries: x is also the file of OUT; name another
convert one.run out => 2 out: unknown format; use --format...
convert --format parquet one.run - => 2 parquet cannot be written to standard output...
convert --format xml one.run - => 2 ...invalid choice: 'xml'...
convert none.run out.csv => 1 none.run: no such file or directory
convert label.csv out.csv => 1 label.csv:2: column 'label': expected a grade...
convert --kind qrels --format csv high.qrels -
  1 high.qrels:1: expected a grade, found 'high'...
convert --kind run --format csv comma.run - => 1 comma.run:1: expected a score, found '0,9'...

eval -o run qrels ./run => 2 -o: run is also the file of RUN; name another
eval -m mapp TWO => 2 ...mapp...
eval none.qrels pca.run => 2 none.qrels: no such file or directory
eval --threads 0 TWO => 2 ...expected 1 or more, found 0
eval -M -1 TWO => 2 ...expected 1 or more...
eval digits.qrels => 2 usage: ...required: RUN...
eval --name a TWO => 2 --name...
eval --name a --name b --tags TWO => 2 --name...
eval --format pdf TWO => 2 usage: ...invalid choice: 'pdf'...
eval -m map digits.qrels unscored.csv => 1 unscored.csv: no score column: found...
eval one.qrels twice.run => 1 twice.run: query '1': duplicate docs a, lines 1 and 3 of twice.run...
eval twice.qrels one.run
  1 query '1': duplicate docs a, lines 1 and 2 of twice.qrels; `fastrank qrels merge ...
eval digits.qrels unjudged.run
  1 unjudged.run: the run and the qrels share no query ids...(run: 'unknown'; qrels: 'q0000',
    'q0001', 'q0002', ...)...
eval high.qrels one.run => 2 high.qrels:1: expected a grade, found 'high'...
eval one.qrels nan.run => 1 nan.run:1: expected a score, found NaN...
eval one.qrels comma.run => 1 comma.run:1: expected a score, found '0,9': use a point...
eval digits.qrels pca.run - --jobs 2 => 2 --jobs: the processes cannot read standard input (-)
eval -o out.csv digits.qrels pca.run bad.run
  1 bad.run:1: malformed line: expected at least 6 fields (query Q0 doc rank score tag), found 3:
    'q0000 Q0 d'
    fastrank eval: out.csv was not written
    fastrank eval: 1 of 2 runs could not be evaluated
eval TWO --format trec --interval
  2 --interval: no effect with --format trec; use table, markdown, latex, html, csv, json or jsonl
eval TWO --level .9 --format csv => 2 --level: no effect without --interval...
eval TWO --interval --level 2 --format csv => 2 level: expected a number between...
eval --format trec --digits 6 TWO
  2 --digits: no effect with --format trec; use table, markdown, latex or html
eval --transpose --format csv TWO
  2 --transpose: no effect with --format csv; use table, markdown, latex or html
eval --percent --format csv TWO
  2 --percent: no effect with --format csv; use table, markdown, latex or html
eval --sort map --format trec TWO
  2 --sort: no effect with --format trec; use table, markdown, latex or html
eval --sort map -q TWO => 2 --sort: no effect with -q; omit it
eval --sort MAP -m map TWO
  2 --sort: 'MAP' is not evaluated; evaluated are map; did you mean 'map'?
eval --sort num_ret -m num_ret TWO
  2 --sort: neither higher nor lower values of num_ret are better
eval --no-bold -o x.json TWO
  2 --no-bold: no effect with --format json; use table, markdown, latex or html

eval-embeddings VECTORS IDS --qrels others.txt
  1 others.txt: no judged document is in the corpus...
eval-embeddings VECTORS IDS --qrels docs.txt => 1 docs.txt:1: ...
eval-embeddings VECTORS IDS --qrels qrels.txt --run - => 2 --run: - is also the file of -o...
eval-embeddings VECTORS IDS --qrels qrels.txt --run x -o x => 2 --run: x is also the file of -o...
eval-embeddings VECTORS IDS --qrels qrels.txt --save-index asked.txt
  2 --save-index: asked.txt is also the file of --query-ids; name another
eval-embeddings VECTORS --qrels qrels.txt -M -1 => 2 usage: ...

explain -o x.html --query q004 ONE => 1 ...did you mean 'q0004'?...
explain -o x.html --query q0004 -m F1 ONE => 2 ...explain supports map, ...
explain -o x.html --against none.txt ONE => 1 none.txt: no such file or directory
explain -o x.html --against x --other pca.run ONE => 2 --other: no effect with --against
explain -o x.html --query q0004 --texts none.jsonl ONE => 1 none.jsonl: no such file...

fuse --method rff a.run b.run => 2 method: unknown name 'rff'; did you mean 'rrf'?
fuse --weights 1,x a.run b.run => 2 usage: ...argument --weights: invalid weights value...
fuse --weights '' a.run b.run => 2 usage: ...argument --weights: invalid weights value...
fuse -o x.html a.run b.run
  2 --output: x.html cannot be written in the format of .html files; set --format, or use a name
    that ends in .trec, .run, .res, ...
fuse a.run none.run => 1 none.run: no such file or directory
fuse -o none/out.run none.run b.run => 1 cannot write none/out.run: No such file or directory
fuse --method combsum -o out.csv a.run b.run infinite.run
  1 ...run 3 (infinite.run): query 'q', document 'd1': expected a finite score, found inf...

gate check --max-drop MAP=0.1x baseline.json TWO => 2 usage: ...
gate check --min 0.5 none none none
  2 usage: ...argument --min: expected MEASURE=NUMBER, found '0.5'...
gate check --min map none none none
  2 usage: ...argument --min: expected MEASURE=NUMBER, found 'map'...
gate check --min map=x none none none
  2 usage: ...argument --min: expected MEASURE=NUMBER, found 'map=x'...
gate check --no-such-flag baseline.json digits.qrels pca.run => 2 usage: ...
gate check baseline.json digits.qrels => 2 usage: ...
gate save -m num_ret -o b.json digits.qrels pca.run => 2 ...

hard-negatives --negatives 1 --texts lacking.jsonl -o out.jsonl qrels run
  1 corpus: no text for 'd2'...
hard-negatives --negatives 1 --texts differing.jsonl -o out.jsonl qrels run
  1 differing.jsonl:2: duplicate id 'd1' with a different text...
hard-negatives --negatives 1 --texts broken.jsonl -o out.jsonl qrels run => 1 broken.jsonl:1: ...
hard-negatives --negatives 1 -o none/out.jsonl qrels run
  1 cannot write none/out.jsonl: No such file or directory
hard-negatives --negatives 0 qrels run => 2 negatives: expected 1 or more, found 0

judges --scale 1 qrels qrels => 2 --scale: expected GRADE=GRADE,..., found '1'
judges --name a qrels high.qrels => 2 names: expected 2, one per judge, found 1
judges qrels none.qrels => 1 none.qrels: no such file or directory
qrels diff qrels none.qrels => 1 fastrank qrels diff: none.qrels: no such file or directory
qrels merge --conflicts error qrels qrels2
  1 fastrank qrels merge: 1 pair has different grades: query 'q1', document 'd2': 1...
judges --plot x.svg --format csv -o x.svg none none
  2 --plot: x.svg is also the file of -o; name another
judges --plot x.jpg none none => 2 plot: x.jpg: expected a suffix .png, .svg, .pdf
estimate --human none --judge none -m map --plot ./x.svg --format csv -o x.svg none
  2 --plot: ./x.svg is also the file of -o; name another
plan --plan x -o x none => 2 --plan: x is also the file of -o; name another
plan --plan - none => 2 --plan: - is also the file of -o; name another

search VECTORS -o x --save-index x => 2 --save-index: x is also the file of -o; name another
search VECTORS -o x.ids.npy --save-index ./x
  2 --save-index: ./x.ids.npy is also the file of -o; name another

spans wrong.spans chunks.csv -o out.qrels
  1 wrong.spans:2: expected 0 <= start < end, found 9 and 3
spans spans.csv texts.jsonl -o out.qrels => 1 texts.jsonl: no places: expected colum...
spans --texts none spans.csv chunks.csv
  1 none: no such file or directory
spans -m SpanRecall spans.csv chunks.csv => 2 --measure: no effect without a RUN
spans --subtopics spans.csv chunks.csv a.run => 2 --subtopics: no effect with a RUN
spans --format jsonl spans.csv chunks.csv a.run => 2 --format: with a RUN, expected one of table...
spans --format parquet spans.csv chunks.csv => 2 parquet cannot be written to standard output...
spans -o x.jsonl spans.csv chunks.csv a.run => 2 --format: with a RUN, expected one of table...
qrels merge -o x.svg one.qrels
  2 fastrank qrels merge: --output: x.svg cannot be written in the format of .svg files...
plan -n 1 --plan plan.json -o x.json a.run
  2 --output: x.json cannot be written in the format of .json files; set --format, or use a name...
spans -m map spans.csv chunks.csv a.run => 2 unknown measure of spans 'map'...

measures nDGC => 2 unknown measure 'nDGC'; did you mean...nDCG...
"""
# A command line, the flag that is wrong in it, and the one that is suggested.
FLAGS = [
    ("--vers", "--vers", "--version"),
    ("eval --thread 1 TWO", "--thread", "--threads"),
    ("search --k 10", "--k", "-k"),
    ("fuse -k 10 a.run b.run", "-k", "--rrf-k"),
    ("fuse --to csv a.run b.run", "--to", "--format"),
    ("convert --from csv a b", "--from", "--input-format"),
    ("explain -q q1 TWO", "-q", "--query"),
    ("compare --kind scatter", "--kind", "--plot-kind"),
    ("compare -f csv TWO", "-f", "--format"),
    ("eval -k 3 TWO", "-k", "--depth"),
    ("eval TWO --top-k=3", "--top-k", "--depth"),
    ("eval --thread=1", "--thread", "--threads"),
    ("eval --threshold 2 TWO", "--threshold", "--relevance-level"),
    ("eval TWO --digit 3 --xyzzy", "--digit", "--digits"),
    ("eval --per_query TWO", "--per_query", "--per-query"),
    ("check --xyzzy digits.qrels", "--xyzzy", ""),
    ("check --formt json", "--formt", "--format"),
    ("gate check --max-dro 1", "--max-dro", "--max-drop"),
    ("gate --hepl check", "--hepl", "--help"),
]
# A command line, the command that is wrong in it, and the one that is suggested.
COMMANDS = [
    ("evl", "evl", "eval"),
    ("help evl", "evl", "eval"),
    ("hepl", "hepl", "help"),
    ("validate qrels", "validate", "check"),
    ("mine", "mine", "hard-negatives"),
    ("ann", "ann", "compare-indexes"),
]
NEEDS = {
    "search": "faiss",
    "eval-embeddings": "faiss",
    "compare-indexes": "faiss",
    "--plot": "matplotlib",
    "--report": "matplotlib",
}


def _listing() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}


@pytest.fixture(autouse=True)
def _inputs(folder: Path) -> None:
    write(FILES)
    corpus = np.random.default_rng(2).standard_normal((300, 8))
    np.save("corpus", corpus)
    np.save("queries", corpus[:10])
    Path("link").symlink_to("x")
    Path("folder").mkdir()


@pytest.mark.parametrize(("line", "expected"), cases(REFUSED))
def test_what_is_wrong_is_told_and_nothing_written(line, expected):
    words = line.split(" ")
    for need in {NEEDS[word] for word in words if word in NEEDS}:
        pytest.importorskip(need)
    before = _listing()

    assert_refused(" ".join(SHORT.get(word, word) for word in words), expected)

    assert _listing() == before


@pytest.mark.parametrize(("line", "wrong", "meant"), FLAGS)
def test_an_abbreviated_or_misspelled_flag_names_the_closest(line, wrong, meant):
    hint = f"; did you mean {meant}?" if meant else ""

    line = " ".join(SHORT.get(word, word) for word in line.split(" "))
    assert_refused(line, f"2 usage: ...: error: unknown option {wrong}{hint}")


@pytest.mark.parametrize(("line", "wrong", "meant"), COMMANDS)
def test_a_misspelled_command_names_the_closest(line, wrong, meant):
    expected = f"2 fastrank: unknown command '{wrong}'; did you mean `fastrank {meant}`?"

    assert_refused(line, expected)


def test_a_command_like_no_other_is_refused_with_all():
    assert_refused("xyz", "2 fastrank: unknown command 'xyz'; expected eval, trec_eval, spans,...")


@pytest.mark.parametrize(
    ("variable", "line", "expected"),
    [
        ("FASTRANK_TREC_EVAL_VERSION", "eval digits.qrels pca.run", "2 ...eleven..."),
        (
            "FASTRANK_TREC_EVAL_VERSION",
            "trec_eval digits.qrels pca.run",
            "1 trec_eval: FASTRANK_TREC_EVAL_VERSION=eleven: expected 9.0.8 or 10.0",
        ),
        ("FASTRANK_THREADS", "eval digits.qrels pca.run", "2 ...eleven..."),
        (
            "FASTRANK_TREC_EVAL_VERSION",
            "fuse a.run a.run",
            "2 FASTRANK_TREC_EVAL_VERSION=eleven: expected 9.0.8 or 10.0",
        ),
    ],
)
def test_settings_in_the_environment_are_checked(variable, line, expected, monkeypatch):
    monkeypatch.setenv(variable, "eleven")

    assert_refused(line, expected)


@pytest.mark.parametrize("flag", ["--plot a.svg", "--report a.html"])
def test_a_missing_matplotlib_is_told_before_anything_is_read(flag, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)

    expected = "1 ...needs matplotlib: pip install 'fastrank-eval[plot]'"
    assert_refused(f"compare {flag} none none", expected)
