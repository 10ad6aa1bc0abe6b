"""`fastrank search` and `fastrank eval-embeddings`: vectors in files, runs and values out."""

from __future__ import annotations

import codecs
import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.cli.main import main
from fastrank.searching import build_index, search

RNG = np.random.default_rng(5)
CORPUS = RNG.standard_normal((60, 8)).astype(np.float32)
QUERIES = RNG.standard_normal((9, 8)).astype(np.float32)
NAMES = {"corpus_ids": [f"d{i}" for i in range(60)], "query_ids": [f"q{i}" for i in range(9)]}
VECTORS = ["--corpus", "corpus.npy", "--queries", "queries.npy"]
IDS = ["--corpus-ids", "docs.txt", "--query-ids", "queries.txt"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files are."""
    monkeypatch.chdir(tmp_path)
    np.save("corpus.npy", CORPUS)
    np.save("queries.npy", QUERIES)
    Path("docs.txt").write_text("\n".join(NAMES["corpus_ids"]) + "\n")
    Path("queries.txt").write_text("\r\n".join(NAMES["query_ids"]))
    Path("qrels.txt").write_text("".join(f"q{i} 0 d{i * j} {j % 3}\n" for i in range(1, 9)
                                         for j in range(1, 7)))  # fmt: skip
    return tmp_path


def listing(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("output", ["run.txt", "run.txt.gz"])
@pytest.mark.parametrize("metric", ["ip", "l2", "cosine"])
def test_search_writes_the_run_that_the_function_gives(output: str, metric: str) -> None:
    status = main(
        ["search", *VECTORS, *IDS, "-k", "5", "--metric", metric, "--batch-size", "4",
         "--ignore-identical-ids", "--tag", "mine", "-o", output]
    )  # fmt: skip

    assert status == 0
    run = search(QUERIES, CORPUS, 5, metric=metric, **NAMES)
    assert fr.read_run(output).to_dict() == run.to_dict()
    assert fr.read_run(output).tag == "mine"


def test_search_writes_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["search", *VECTORS, "-k", "2", "-o", "-"]) == 0

    out, err = capfdbinary.readouterr()
    assert len(out.splitlines()) == 18
    assert err == b""


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", *VECTORS, *IDS, "-o", "-"],
        ["eval-embeddings", *VECTORS, *IDS, "--qrels", "qrels.txt", "-m", "all_trec", "-q"],
        ["eval-embeddings", *VECTORS, *IDS, "--qrels", "qrels.txt", "-m", "map", "-q", "-o", "-"],
        ["eval-embeddings", *VECTORS, *IDS, "--qrels", "qrels.txt", "-o", "a", "--run", "-"],
        ["compare-indexes", *VECTORS, "-k", "3", "HNSW8", "-o", "-"],
    ],
)
def test_a_closed_pipe_ends_quietly(arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "fastrank", *arguments],
        stdout=write, stderr=subprocess.PIPE, check=False, env=dict(os.environ),
    )  # fmt: skip
    os.close(write)

    told = b"fastrank eval-embeddings: 1 query of the run has no judgments (q0)\n"
    assert (done.returncode, done.stderr.removeprefix(told)) == (141, b"")


def test_a_saved_index_is_searched() -> None:
    index_factory = ["--index-factory", "IVF4,Flat", "--parameters", "nprobe=4", "--metric", "l2"]
    assert (
        main(["search", *VECTORS, *IDS, *index_factory, "--save-index", "docs.index", "-o", "a"])
        == 0
    )
    again = ["search", "--index", "docs.index", "--queries", "queries.npy"]

    assert main([*again, "--query-ids", "queries.txt", "--parameters", "nprobe=4", "-o", "b"]) == 0

    assert Path("a").read_bytes() == Path("b").read_bytes()
    assert fr.read_run("a").to_dict() == search(QUERIES, CORPUS, 60, metric="l2", **NAMES).to_dict()


def test_ids_may_come_from_numpy_files() -> None:
    np.save("docs.npy", np.array(NAMES["corpus_ids"]))
    np.save("numbers.npy", np.arange(9) + 100)

    assert main(["search", *VECTORS, "--corpus-ids", "docs.npy", "--query-ids", "numbers.npy",
                 "-k", "1", "-o", "run"]) == 0  # fmt: skip

    assert list(fr.read_run("run").to_dict()) == [str(100 + i) for i in range(9)]


def test_lists_of_documents_are_left_out() -> None:
    best = {query: next(iter(docs)) for query, docs in
            search(QUERIES, CORPUS, 1, **NAMES).to_dict().items()}  # fmt: skip
    Path("gone.txt").write_text("".join(f"{query} {doc}\n" for query, doc in best.items()))

    assert main(["search", *VECTORS, *IDS, "-k", "1", "--exclude", "gone.txt", "-o", "run"]) == 0

    run = fr.read_run("run").to_dict()
    assert len(run) == 9
    assert all(best[query] not in docs for query, docs in run.items())


def test_cut_ties_are_told(capfd: pytest.CaptureFixture[str]) -> None:
    np.save("corpus.npy", np.ones((5, 8)))

    assert main(["search", *VECTORS, "-k", "3", "-o", "run"]) == 0

    assert "9 rankings were cut between documents with equal scores" in capfd.readouterr().err


@pytest.mark.parametrize("form", ["trec", "table", "csv", "json", "jsonl", "markdown", "latex"])
def test_eval_embeddings_prints_what_eval_prints_of_the_run(
    form: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    common = ["-q", "-m", "all_trec", "-m", "RR@3", "--format", form]
    main(["search", *VECTORS, *IDS, "-k", "20", "--tag", "run", "-o", "run"])
    main(["eval", *common, "qrels.txt", "run"])
    expected = capfdbinary.readouterr().out

    asked = [*VECTORS, *IDS, "-k", "20", "--qrels", "qrels.txt", "--tag", "run"]
    assert main(["eval-embeddings", *asked, *common]) == 0

    # The file of JSON.
    found = capfdbinary.readouterr().out.replace(b"queries.npy", b"run")
    if form == "json":
        counts = json.loads(found)[0]["counts"]
        assert counts.pop("ties_at_cutoff") == 0
        (own,) = json.loads(found)
        assert [{**own, "counts": counts | {"unjudged_queries": None}}] == [
            {**one, "counts": one["counts"] | {"unjudged_queries": None}}
            for one in json.loads(expected)
        ]
    elif form in ("table", "markdown", "latex"):
        assert found.replace(b"-", b"").split() == expected.replace(b"-", b"").split()
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("tag", "name"), [([], "fastrank"), (["--tag", "ours"], "ours"), (["--tag", ""], "queries.npy")]
)
def test_eval_embeddings_names_the_run_by_the_tag(
    tag: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [*VECTORS, *IDS, "-k", "5", "--qrels", "qrels.txt", "-m", "runid", *tag]

    assert main(["eval-embeddings", *asked]) == 0

    assert capsys.readouterr().out.splitlines()[0] == f"{'run':22}\tall\t{name}"


def test_eval_embeddings_writes_the_run_and_the_values() -> None:
    command = ["eval-embeddings", *VECTORS, *IDS, "--qrels", "qrels.txt", "-k", "7", "-m", "map"]

    assert main([*command, "--run", "run.gz", "-o", "values"]) == 0

    assert fr.read_run("run.gz").to_dict() == search(QUERIES, CORPUS, 7, **NAMES).to_dict()
    assert b"map" in Path("values").read_bytes()


def test_eval_embeddings_builds_and_saves_an_index() -> None:
    command = [
        "eval-embeddings",
        *VECTORS,
        *IDS,
        "--qrels",
        "qrels.txt",
        "--index-factory",
        "HNSW8",
    ]

    assert main([*command, "--save-index", "docs.index", "-o", "a"]) == 0
    assert main([*command, "-o", "b"]) == 0
    assert main(["eval-embeddings", "--index", "docs.index", "--queries", "queries.npy",
                 "--query-ids", "queries.txt", "--qrels", "qrels.txt", "-o", "c"]) == 0  # fmt: skip

    assert Path("a").read_bytes() == Path("b").read_bytes() == Path("c").read_bytes()


SHARDS = ["--shard", "0.npy", "--shard", "1.npy", "--queries", "queries.npy"]


@pytest.fixture
def shards(folder: Path) -> None:
    np.save("0.npy", CORPUS[:13])
    np.save("1.npy", CORPUS[13:])


@pytest.mark.usefixtures("shards")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_search_of_shards_writes_the_run_of_one_file(jobs: str) -> None:
    common = [*IDS, "-k", "20", "--metric", "cosine", "--ignore-identical-ids"]

    assert main(["search", *SHARDS, "--jobs", jobs, *common, "-o", "shards.txt"]) == 0

    assert main(["search", *VECTORS, *common, "-o", "one.txt"]) == 0
    assert Path("shards.txt").read_bytes() == Path("one.txt").read_bytes()


@pytest.mark.usefixtures("shards")
def test_eval_embeddings_of_shards_prints_the_values_of_one_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    common = [*IDS, "--qrels", "qrels.txt", "-k", "30", "-m", "map"]
    assert main(["eval-embeddings", *VECTORS, *common]) == 0
    expected = capsys.readouterr().out

    assert main(["eval-embeddings", *SHARDS, "--jobs", "2", *common]) == 0

    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("command", ["search", "eval-embeddings"])
def test_help_has_examples_that_parse(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])

    assert stop.value.code == 0
    assert f"examples:\n  fastrank {command} " in capsys.readouterr().out


OPTIONS = {
    "--corpus", "--index-factory", "--jobs", "k", "--save-index", "index_factory", "parameters"
}  # fmt: skip
WRONG: dict[str, tuple[list[str], str]] = {
    "no corpus": (
        ["--queries", "queries.npy"],
        "--corpus: expected one of --corpus, --index and --shard",
    ),
    "missing": (["--corpus", "no.npy", "--queries", "queries.npy"], "no.npy: no such file"),
    "k and index": ([*VECTORS, "-k", "0", "--save-index", "new"], "k: expected 1 or more, found"),
    "k": ([*VECTORS, "-k", "0"], "k: expected 1 or more, found 0"),
    "ids": ([*VECTORS, "--corpus-ids", "queries.txt"], "corpus_ids: expected 60 ids"),
    "blank": ([*VECTORS, "--query-ids", "blank.txt"], "blank.txt:2: expected an id without"),
    "index": (
        ["--index", "qrels.txt", "--queries", "queries.npy"],
        "qrels.txt: truncated or invalid index",
    ),
    "both": (
        ["--index", "x", "--save-index", "y", "--queries", "queries.npy"],
        "--save-index: cannot be combined with --index",
    ),
    "two corpora": (
        [*VECTORS, "--shard", "corpus.npy"],
        "--corpus: expected one of --corpus, --index and --shard",
    ),
    "shard and factory": (
        ["--shard", "corpus.npy", "--queries", "queries.npy", "--index-factory", "HNSW8"],
        "--index-factory: cannot be combined with --shard",
    ),
    "jobs": ([*VECTORS, "--jobs", "2"], "--jobs: only --shard is searched in several processes"),
    "shard": (
        ["--shard", "corpus.npy", "--shard", "no.npy", "--queries", "queries.npy"],
        "no.npy: no such file",
    ),
    "nan in a shard": (
        ["--shard", "nan.npy", "--shard", "corpus.npy", "--jobs", "2", "--queries", "queries.npy"],
        "nan.npy[8, 3]: expected finite",
    ),
    "index_factory": (
        [*VECTORS, "--index-factory", "nonsense"],
        "index_factory: faiss cannot build 'nonsense'",
    ),
    "narrow": (["--corpus", "corpus.npy", "--queries", "narrow.npy"], "queries: expected 8 col"),
    "nan": (["--corpus", "corpus.npy", "--queries", "nan.npy"], "queries[8, 3]: expected finite"),
    "parameters": (
        [*VECTORS, "--parameters", "nprobe=3"],
        "parameters: exact search has no parameters",
    ),
    "exclude": ([*VECTORS, "--exclude", "blank.txt"], "blank.txt:1: expected 2 fields"),
}


@pytest.mark.parametrize("command", ["search", "eval-embeddings"])
@pytest.mark.parametrize("what", WRONG)
def test_mistakes_are_told_and_nothing_is_written(
    what: str, command: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("blank.txt").write_text("q0\n\nq2\n")
    np.save("narrow.npy", QUERIES[:, :5])
    np.save("nan.npy", np.where(np.arange(72).reshape(9, 8) == 67, np.nan, QUERIES))
    arguments, message = WRONG[what]
    Path("numbers.txt").write_text("1 0 5 1\n")
    more = ["-o", "out"] if command == "search" else ["--qrels", "numbers.txt", "--run", "out"]
    before = listing(folder)

    status = main([command, *arguments, *more])

    # 2 for an impossible option, 1 for a wrong input.
    assert status == (2 if message.partition(":")[0] in OPTIONS else 1)
    err = capfd.readouterr().err
    assert err.startswith(f"fastrank {command}: ")
    assert message in err
    assert err.count("\n") == 1
    assert listing(folder) == before


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--qrels", "no.txt"], 1, "no.txt: no such file"),
        (["--qrels", "others.txt"], 1, "others.txt: no judged document is in the corpus"),
        (["--qrels", "qrels.txt", "-m", "mapp"], 2, "unknown measure 'mapp'"),
        (["--qrels", "docs.txt"], 1, "docs.txt:1: "),
        (["--qrels", "qrels.txt", "--run", "no/run"], 1, "cannot write no/run"),
        (["--qrels", "qrels.txt", "-o", "no/values"], 1, "cannot write no/values"),
        (["--qrels", "qrels.txt", "--run", "-"], 2, "different files, found - twice"),
        (
            ["--qrels", "qrels.txt", "--run", "x", "-o", "x"],
            2,
            "different files, found x twice",
        ),
    ],
)
def test_eval_embeddings_tells_what_is_wrong(
    arguments: list[str], status: int, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("others.txt").write_text("q1 0 x 1\n")

    assert main(["eval-embeddings", *VECTORS, *IDS, *arguments]) == status

    assert message in capfd.readouterr().err


@pytest.mark.parametrize("option", ["-o", "--run"])
@pytest.mark.parametrize(
    ("path", "reason"), [("no/file", "No such file or directory"), (".", "Is a directory")]
)
def test_what_cannot_be_written_is_told_before_the_search(
    option: str, path: str, reason: str, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def search(*_: object, **__: object) -> None:
        raise AssertionError("there is a search")

    monkeypatch.setattr("fastrank.evaluation.embeddings.search_batches", search)

    assert main(["eval-embeddings", *VECTORS, *IDS, "--qrels", "qrels.txt", option, path]) == 1

    assert capfd.readouterr().err == f"fastrank eval-embeddings: cannot write {path}: {reason}\n"


def test_eval_embeddings_cuts_rankings_as_eval_does(capfd: pytest.CaptureFixture[str]) -> None:
    """-M is short for --depth in both."""
    printed = []
    for option in ("--depth", "-M"):
        main(
            [
                "eval-embeddings",
                *VECTORS,
                *IDS,
                "--qrels",
                "qrels.txt",
                "-m",
                "num_ret",
                option,
                "7",
            ]
        )
        printed.append(capfd.readouterr().out)

    assert printed[0] == printed[1]
    assert "num_ret" in printed[0]
    with pytest.raises(SystemExit):
        main(["eval-embeddings", *VECTORS, "--qrels", "qrels.txt", "-M", "-1"])


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("search", ["-o", "no/run"]),
        ("search", ["-o", "folder"]),
        ("search", ["-o", "run", "--save-index", "no/index"]),
        ("search", ["-o", "run", "--tag", "two words"]),
        ("eval-embeddings", ["--qrels", "qrels.txt", "-o", "no/values"]),
        ("eval-embeddings", ["--qrels", "qrels.txt", "--run", "no/run"]),
        ("eval-embeddings", ["--qrels", "qrels.txt", "--run", "run", "--tag", "two words"]),
        ("eval-embeddings", ["--qrels", "qrels.txt", "--save-index", "no/index"]),
        ("eval-embeddings", ["--qrels", "qrels.txt", "--save-index", "index", "--run", "no/run"]),
    ],
)
def test_what_cannot_be_written_is_found_before_an_index_is_built(
    command: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    @functools.wraps(build_index)
    def build(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr("fastrank.cli.search_flags.build_index", build)
    monkeypatch.setattr("fastrank.evaluation.embeddings.build_index", build)
    Path("folder").mkdir()

    assert main([command, *VECTORS, *IDS, "--index-factory", "HNSW8", *arguments]) == 1


def test_ids_may_begin_with_a_mark_of_their_encoding() -> None:
    Path("marked.txt").write_bytes(codecs.BOM_UTF8 + Path("queries.txt").read_bytes())

    main(["search", *VECTORS, *IDS, "--query-ids", "marked.txt", "-o", "marked"])
    main(["search", *VECTORS, *IDS, "-o", "run"])

    assert Path("marked").read_bytes() == Path("run").read_bytes()


def test_a_full_disk_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no full device")

    assert main(["search", *VECTORS, "-o", "/dev/full"]) == 1

    assert "cannot write /dev/full: No space left on device" in capfd.readouterr().err


SLOW = """
import sys, time
import fastrank.searching.engines as exact
compare = exact.VectorSearch._compare
def slow(self, *arguments):
    time.sleep(3)
    return compare(self, *arguments)
exact.VectorSearch._compare = slow
from fastrank.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", ["search", "eval-embeddings"])
def test_an_interrupt_leaves_no_half_file(command: str, folder: Path) -> None:
    Path("out").write_text("before")
    more = ["-o", "out"] if command == "search" else ["--qrels", "qrels.txt", "--run", "out"]
    arguments = [command, *VECTORS, *IDS, "--batch-size", "1", *more]
    before = listing(folder)
    environment = {**os.environ, "PYTHONPATH": str(Path(fr.__file__).parent.parent)}
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, *arguments], stderr=subprocess.PIPE, env=environment
    ) as process:
        deadline = time.monotonic() + 60
        while listing(folder) == before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert listing(folder) != before
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert err == b""
    assert listing(folder) == before
    assert Path("out").read_text() == "before"


def test_other_commands_do_without_faiss() -> None:
    code = (
        "import sys; from fastrank.cli.main import main; main(['eval', 'qrels.txt', 'run']);"
        " print(sorted({'faiss', 'tqdm', 'numpy'} & set(sys.modules)), file=sys.stderr)"
    )
    Path("run").write_text("q1 Q0 d1 1 0.5 x\n")
    environment: dict[str, Any] = {
        **os.environ, "PYTHONPATH": str(Path(fr.__file__).parent.parent)
    }  # fmt: skip

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                           env=environment, check=True)  # fmt: skip

    assert "faiss" not in found.stderr
    assert "tqdm" not in found.stderr


def test_eval_embeddings_warns_of_cutoffs_above_k(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["--qrels", "qrels.txt", "-k", "5", "-m", "nDCG@10"]

    assert main(["eval-embeddings", *VECTORS, *IDS, *arguments]) == 0

    assert capfd.readouterr().err.startswith(
        "fastrank eval-embeddings: k=5 is below the cutoff of nDCG@10, which counts the ranks after"
        " 5 as not relevant\n"
    )
