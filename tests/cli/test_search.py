"""`fastrank search` and `fastrank eval-embeddings`: vectors in files, runs and values out."""

from __future__ import annotations

import codecs
import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.searching import build_index, search
from tests.helpers.commands import assert_refused, fastrank, printed, write
from tests.helpers.tables import cases

RNG = np.random.default_rng(5)
CORPUS = RNG.standard_normal((60, 8)).astype(np.float32)
QUERIES = RNG.standard_normal((9, 8)).astype(np.float32)
NAMES = {"corpus_ids": [f"d{i}" for i in range(60)], "query_ids": [f"q{i}" for i in range(9)]}
VECTORS = "--corpus corpus.npy --queries queries.npy"
SHARDS = "--shard 0.npy --shard 1.npy --queries queries.npy"
IDS = "--corpus-ids docs.txt --query-ids queries.txt"
EVALUATE = f"eval-embeddings {VECTORS} {IDS} --qrels qrels.txt"


@pytest.fixture(autouse=True)
def _inputs(folder: Path) -> None:
    files = {"corpus": CORPUS, "queries": QUERIES, "0": CORPUS[:13], "1": CORPUS[13:]}
    files["nan"] = np.where(np.arange(72).reshape(9, 8) == 67, np.nan, QUERIES)
    for name, vectors in files.items():
        np.save(name, vectors)
    grades = [f"q{i} 0 d{i * j} {j % 3}\n" for i in range(1, 9) for j in range(1, 7)]
    write({"qrels.txt": "".join(grades), "docs.txt": "\n".join(NAMES["corpus_ids"]) + "\n"})
    write({"queries.txt": "\r\n".join(NAMES["query_ids"])})


def run(path: str) -> dict[str, dict[str, float]]:
    return fr.read_run(path).to_dict()  # type: ignore[return-value]


@pytest.mark.parametrize("output", ["run.txt", "run.txt.gz"])
@pytest.mark.parametrize("metric", ["ip", "l2", "cosine"])
def test_search_writes_the_run_that_the_function_gives(output, metric):
    options = f"-k 5 --metric {metric} --batch-size 4 --ignore-identical-ids --tag mine"

    assert printed(f"search {VECTORS} {IDS} {options} -o {output}") == ""

    assert run(output) == search(QUERIES, CORPUS, 5, metric=metric, **NAMES).to_dict()
    assert fr.read_run(output).tag == "mine"


def test_search_writes_to_standard_output():
    assert len(printed(f"search {VECTORS} {IDS} -k 2 -o -").splitlines()) == 18


def test_a_saved_index_is_searched():
    factory = "--index-factory IVF4,Flat --parameters nprobe=4 --metric l2"
    again = "--index docs.index --queries queries.npy --query-ids queries.txt"

    assert fastrank(f"search {VECTORS} {IDS} {factory} --save-index docs.index -o a").status == 0
    assert fastrank(f"search {again} --parameters nprobe=4 -o b").status == 0

    assert Path("a").read_bytes() == Path("b").read_bytes()
    assert run("a") == search(QUERIES, CORPUS, 60, metric="l2", **NAMES).to_dict()


def test_ids_may_come_from_numpy_files():
    np.save("docs.npy", np.array(NAMES["corpus_ids"]))
    np.save("numbers.npy", np.arange(9) + 100)

    printed(f"search {VECTORS} --corpus-ids docs.npy --query-ids numbers.npy -k 1 -o run")

    assert list(run("run")) == [str(100 + i) for i in range(9)]


def test_ids_may_begin_with_a_mark_of_their_encoding():
    write({"marked.txt": codecs.BOM_UTF8 + Path("queries.txt").read_bytes()})

    printed(f"search {VECTORS} {IDS} --query-ids marked.txt -o marked")
    printed(f"search {VECTORS} {IDS} -o run")

    assert Path("marked").read_bytes() == Path("run").read_bytes()


def test_lists_of_documents_are_left_out():
    found = search(QUERIES, CORPUS, 1, **NAMES).to_dict()
    best = {query: next(iter(docs)) for query, docs in found.items()}
    write({"gone.txt": "".join(f"{query} {doc}\n" for query, doc in best.items())})

    printed(f"search {VECTORS} {IDS} -k 1 --exclude gone.txt -o run")

    assert len(run("run")) == 9
    assert all(best[query] not in docs for query, docs in run("run").items())


def test_cut_ties_are_told():
    np.save("corpus.npy", np.ones((5, 8)))

    found = fastrank(f"search {VECTORS} -k 3 -o run")

    assert found.status == 0
    assert "ids are row numbers, of documents 0 to 4 and of queries 0 to 8" in found.err
    assert "9 rankings were cut between documents with equal scores" in found.err


@pytest.mark.parametrize("form", ["trec", "table", "csv", "json", "jsonl", "markdown", "latex"])
def test_eval_embeddings_prints_what_eval_prints_of_the_run(form):
    common = f"-q -m all_trec -m RR@3 --format {form}"
    printed(f"search {VECTORS} {IDS} -k 20 --tag run -o run")
    expected = fastrank(f"eval {common} qrels.txt run").out

    found = fastrank(f"{EVALUATE} -k 20 --tag run {common}")

    assert found.status == 0
    # The file of JSON.
    shown = found.out.replace("queries.npy", "run")
    if form == "json":
        (own,), (one,) = json.loads(shown), json.loads(expected)
        of_search = ("ties_at_cutoff", "zero_vectors", "not_in_corpus")
        assert [own["counts"].pop(name) for name in of_search] == [0, 0, 0]
        assert own["counts"].pop("unjudged_queries") == 1
        assert one["counts"].pop("unjudged_queries") == 1
        assert own == one
    elif form in ("table", "markdown", "latex"):
        assert shown.replace("-", "").split() == expected.replace("-", "").split()
    else:
        assert shown == expected


@pytest.mark.parametrize(
    ("tag", "name"), [("", "fastrank"), ("--tag ours", "ours"), ("--tag ''", "queries.npy")]
)
def test_eval_embeddings_names_the_run_by_the_tag(tag, name):
    found = fastrank(f"{EVALUATE} -k 5 -m runid {tag}")

    assert found.out.splitlines()[0] == f"{'run':22}\tall\t{name}"


def test_eval_embeddings_writes_the_run_and_the_values():
    assert fastrank(f"{EVALUATE} -k 7 -m map --run run.gz -o values").status == 0

    assert run("run.gz") == search(QUERIES, CORPUS, 7, **NAMES).to_dict()
    assert b"map" in Path("values").read_bytes()


def test_eval_embeddings_builds_and_saves_an_index():
    index = "--index docs.index --queries queries.npy --query-ids queries.txt"

    for line in (
        f"{EVALUATE} --index-factory HNSW8 --save-index docs.index -o a",
        f"{EVALUATE} --index-factory HNSW8 -o b",
        f"eval-embeddings {index} --qrels qrels.txt -o c",
    ):
        assert fastrank(line).status == 0

    assert Path("a").read_bytes() == Path("b").read_bytes() == Path("c").read_bytes()


@pytest.mark.parametrize("jobs", [1, 2])
def test_search_of_shards_writes_the_run_of_one_file(jobs):
    common = f"{IDS} -k 20 --metric cosine --ignore-identical-ids"

    printed(f"search {SHARDS} --jobs {jobs} {common} -o shards.txt")
    printed(f"search {VECTORS} {common} -o one.txt")

    assert Path("shards.txt").read_bytes() == Path("one.txt").read_bytes()


def test_eval_embeddings_of_shards_prints_the_values_of_one_file():
    common = f"{IDS} --qrels qrels.txt -k 30 -m map"

    found = fastrank(f"eval-embeddings {SHARDS} --jobs 2 {common}")

    assert found == fastrank(f"eval-embeddings {VECTORS} {common}")
    assert found.status == 0


# What both commands refuse.
WRONG = """
--queries queries.npy => 2 --corpus: expected one of --corpus, --index and --shard
--corpus no.npy --queries queries.npy => 1 no.npy: no such file...
VECTORS -k 0 --save-index new => 2 k: expected 1 or more, found...
VECTORS --corpus-ids queries.txt => 1 corpus_ids: expected 60 ids...
--index qrels.txt --queries queries.npy => 1 qrels.txt: truncated or invalid index...
--index x --save-index y --queries queries.npy => 2 --save-index: cannot be combined with --index
VECTORS --shard corpus.npy => 2 --corpus: expected one of --corpus, --index and --shard
--shard corpus.npy --queries queries.npy --index-factory HNSW8
  2 --index-factory: cannot be combined with --shard
VECTORS --jobs 2 => 2 --jobs: only --shard is searched in several processes
--shard nan.npy --shard corpus.npy --jobs 2 --queries queries.npy
  1 ...nan.npy[8, 3]: expected finite...
VECTORS --index-factory nonsense => 2 index_factory: faiss cannot build 'nonsense'...
--corpus corpus.npy --queries nan.npy => 1 queries[8, 3]: expected finite...
"""


@pytest.mark.parametrize("command", ["search -o out", "eval-embeddings --qrels q --run out"])
@pytest.mark.parametrize(("arguments", "expected"), cases(WRONG))
def test_mistakes_are_told_and_nothing_is_written(arguments, expected, command, folder):
    write({"q": "1 0 5 1\n"})
    before = sorted(folder.iterdir())

    assert_refused(f"{command} {arguments.replace('VECTORS', VECTORS)}", expected)

    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"search {VECTORS} {IDS} -o no/run", "cannot write no/run: No such file or directory"),
        (f"search {VECTORS} {IDS} -o .", "cannot write .: Is a directory"),
        (
            f"search {VECTORS} {IDS} -o run --save-index no/index",
            "cannot write no/index: No such file or directory",
        ),
        (f"search {VECTORS} {IDS} -o run --tag 'two words'", "...two words..."),
        (f"{EVALUATE} -o no/values", "cannot write no/values: No such file or directory"),
        (f"{EVALUATE} -o .", "cannot write .: Is a directory"),
        (f"{EVALUATE} --run no/run", "cannot write no/run: No such file or directory"),
        (f"{EVALUATE} --run .", "cannot write .: Is a directory"),
        (f"{EVALUATE} --run run --tag 'two words'", "...two words..."),
        (f"{EVALUATE} --save-index no/index", "cannot write no/index: No such file or directory"),
        (f"{EVALUATE} --save-index index --run no/run", "cannot write no/run..."),
    ],
)
@pytest.mark.parametrize("index", ["", " --index-factory HNSW8"])
def test_what_cannot_be_written_is_told_before_the_work(line, told, index, monkeypatch):
    @functools.wraps(build_index)
    def work(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr("fastrank.vectors.searching.batches.build_index", work)
    monkeypatch.setattr("fastrank.vectors.embeddings.judged_search.search_batches", work)

    assert_refused(line + index, f"1 {told}")


def test_eval_embeddings_cuts_rankings_as_eval_does():
    found = [fastrank(f"{EVALUATE} -m num_ret {option} 7") for option in ("--depth", "-M")]

    assert found[0] == found[1]
    assert "num_ret" in found[0].out


def test_eval_embeddings_warns_of_cutoffs_above_k():
    found = fastrank(f"{EVALUATE} -k 5 -m nDCG@10")

    assert found.status == 0
    assert found.err.startswith(
        "fastrank eval-embeddings: k=5 is below the cutoff of nDCG@10, which counts the ranks after"
        " 5 as not relevant\n"
    )


def test_other_commands_do_without_faiss():
    write({"run": "q1 Q0 d1 1 0.5 x\n"})
    code = (
        "import sys; from fastrank.cli.main import main; main(['eval', 'qrels.txt', 'run']);"
        " sys.exit(bool({'faiss', 'tqdm'} & set(sys.modules)))"
    )

    path = {"PYTHONPATH": str(Path(fr.__file__).parent.parent)}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, env=path, check=False)

    assert (found.returncode, found.stdout != b"") == (0, True)
