"""The executable trec_eval: the same answers as the command in Python, or none."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest
from hypothesis import settings

from fastrank.core.measures.trec import MEASURES, NICKNAMES
from tests.helpers.commands import Command, Result
from tests.helpers.native import LEFT, alone, needs_compiler
from tests.helpers.paths import DATA, TESTS

pytestmark = needs_compiler

RECORDED = [
    (case["args"], {name: text.encode("latin-1") for name, text in case["files"].items()})
    for case in json.loads((TESTS / "recorded" / "cases.json").read_text("ascii"))
    if "9.0.8" in case["expect"] and not case.get("stdin")
]
CONFORMANCE = [
    (
        [*case["arguments"], "qrels", "run"],
        {"qrels": case["qrels"].encode(), "run": case["run"].encode()},
    )
    for case in map(
        json.loads, (DATA / "conformance" / "cases.jsonl").read_text("ascii").splitlines()
    )
    if case["source"] == "trec_eval 9.0.8" and "arguments" in case
]
QRELS = b"q1 0 a 1\nq1 0 b 0\nq1 0 e 2\nq2 0 c 1\nq2 0 a -1\nq3 0 d 0\n"
RUN = b"q1 Q0 b 1 2.0 t\nq1 Q0 a 2 1.0 t\nq1 Q0 e 3 1.0 t\nq2 Q0 c 1 9 t\nq3 Q0 d 1 9 t\n"
FILES = {"qrels": QRELS, "run": RUN}


class Both:
    """Runs a command line on files in both ways; `native` counts what the executable answered."""

    def __init__(self, executable: Path, trec_eval: Command, folder: Path) -> None:
        self._executable, self._trec_eval, self._folder = executable, trec_eval, folder
        self.native = 0

    def __call__(self, arguments: list[str], files: dict[str, bytes]) -> tuple[Result, Result]:
        for name, content in files.items():
            (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self._folder / name).write_bytes(content)
        expected = self._trec_eval(*arguments)
        found = alone(self._executable, *arguments, folder=self._folder)
        if found.status == LEFT and not found.stdout:
            return expected, expected
        self.native += 1
        return found, expected


@pytest.fixture
def both(executable: Path, trec_eval: Command, tmp_path: Path) -> Both:
    return Both(executable, trec_eval, tmp_path)


@pytest.mark.parametrize(
    ("lines", "least"), [(RECORDED, 35), (CONFORMANCE, 60)], ids=["recorded", "conformance"]
)
def test_cases_of_trec_eval(lines, least, both):
    """Status, standard output and standard error."""
    unlike = []
    for arguments, files in lines:
        found, expected = both(arguments, files)
        if found != expected:
            unlike.append((arguments, found, expected))

    assert unlike == []
    assert both.native >= least


# Options that the executable answers, and options that it leaves to Python.
ANSWERED = """
-m map; -q; -qm map; -mmap -q -n; -nqc; -n; -c -c -q; -J -q -m all_trec; -J -M1 -q -m all_trec; -c
-l 3 -m all_trec; -l 99 -m all_trec -q; -l2; -l +1; -l 2x; -M 0 -m all_trec; -M 1x; -M 2147483648;
-M 99999999999999999999; -N 5 -m utility; -N -5 -m utility; -N 99999999999999999999 -m infAP; -m
P.5,10; -m P.010; -m P.5,10,15,20; -m P.5 -m P.10; -m P -m P.3; -m P.3 -m official; -m official -m
P.3; -m set -m ndcg; -m all_trec -m all_trec; -m num_q -m runid -q; -m relstring -n -q; -m rbp -m
rbp_resid -m unj -m dcg -m ideal_dcg -q; -m P.999999999; -q --
"""
LEFT_TO_PYTHON = """
-l -1; -M -1; -m P.10,5,3; -m relstring.3 -q; -m P.9999999999; -m P.5,5; -m P.5,; -m P.,5; -m
P.+5; -m P.0; -m P.; -m P.5.5; -m .; -m .5; -m official.; -m official.5; -m map.5; -m Map; -m
nDCG@10; -m all_prefs; -m map_jg; -m iprec_at_recall.0.5; -m ndcg.1=3; --query_eval_wanted; -h;
-v; -x; -T trec_results; -R qrels; -D 1; -Z run; -o
"""


@pytest.mark.parametrize("answered", [ANSWERED, LEFT_TO_PYTHON], ids=["answered", "left"])
def test_options(answered, both):
    for options in answered.split(";"):
        before = both.native

        found, expected = both([*options.split(), "qrels", "run"], FILES)

        assert found == expected, options
        assert (both.native > before) == (answered == ANSWERED), options


def test_parameters_in_unusual_words(both):
    """Blanks, nothing, options behind files, more files, and more cutoffs than there are places."""
    many = ",".join(map(str, range(1, 66)))
    for words in (["-l", ""], ["-l", " 2"], ["-m", ""], ["-m", "P. 5"], ["-m", f"P.{many}"]):
        found, expected = both([*words, "qrels", "run"], FILES)
        assert found == expected
    for words in (["qrels", "run", "-q"], ["qrels", "-q", "run"], ["qrels"], ["qrels", "run", "x"]):
        found, expected = both(words, FILES)
        assert found == expected


@pytest.mark.parametrize("measure", [measure.name for measure in MEASURES])
def test_every_measure(measure, both):
    """Those that need more than rankings are left to Python."""
    for options in ((), ("-c",)):
        found, expected = both(["-q", *options, "-m", measure, "qrels", "run"], FILES)
        assert found == expected


@pytest.mark.parametrize(
    "files",
    [
        {"qrels": QRELS + b"q4 0 a 1\n"},
        {"qrels": QRELS + b"".join(b"m%d 0 a 1\n" % i for i in range(7))},
        {"qrels": QRELS + b"".join(b"m%d 0 a 1\n" % i for i in range(5))},
        {"qrels": QRELS + b"\xc3\xa9 0 a 1\n"},
        {"qrels": QRELS + b"".join(b"m%d 0 a 1\n" % i for i in range(1000))},
        {"qrels": QRELS.replace(b"\n", b"\r\n"), "run": RUN.replace(b" ", b"\t  ")},
        {"run": RUN + b"q9 Q0 a 1 1 t\n"},
        {"run": RUN.replace(b"\nq3", b"\nq1")},
        {"run": RUN + b"q3 Q0 d 1 9 t\n"},
        {"run": RUN.removesuffix(b"\n")},
        {"run": b""},
        {"qrels": b""},
        {"run": b"q9 Q0 a 1 1 t\n"},
        {"run": RUN + b"# comment\n"},
        {"qrels": b"# comment\n" + QRELS},
        {"qrels": b"\xef\xbb\xbf" + QRELS},
        {"qrels": QRELS.replace(b"q2", b"q1")},
        {"qrels": b"q1 0 a -1\n" + QRELS[19:]},
        {"run": RUN.replace(b" t\n", b" \xe9t\xe9\n")},
        {"run": b"BZh91AY&SY" + RUN},
        {"run": b"\x1f\x8b\x08" + RUN},
        {"run": RUN.replace(b"9 t", b"nan t")},
        {"run": b"".join(b"q1 Q0 %d 1 %d t\n" % (i, i % 977) for i in range(40_000))},
        {"run": b"q1 Q0 " + b"a" * 300_000 + b" 1 1 t\n"},
    ],
)
def test_files(files, both):
    """Missing queries, of which a note says the names; a query longer than what is read at once."""
    for options in ((), ("-c",), ("-q", "-m", "all_trec")):
        found, expected = both([*options, "qrels", "run"], FILES | files)
        assert found == expected


@pytest.mark.parametrize("options", [[], ["-m", "map"], ["-q", "-m", "all_trec"], ["-c", "-J"]])
def test_the_usual_needs_no_python(options, both):
    """There is none to start: the executable is alone in its folder."""
    found, expected = both([*options, "digits.qrels", "pixels.run"], {})

    assert both.native == 1
    assert found == expected
    assert (found.status, found.stderr) == (0, "")


VARIABLES = [
    "FASTRANK_TREC_EVAL_VERSION=10.0",
    "NUMBA_DISABLE_JIT=1",
    "POSIXLY_CORRECT=",
    "PYTHONPATH=x",
]


@pytest.mark.parametrize("variable", VARIABLES)
def test_variables_that_change_something_are_left_to_python(
    variable, executable, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_bytes(content)
    name, _, value = variable.partition("=")
    status = os.spawnve(
        os.P_WAIT, executable, ["x", "-n", "qrels", "run"], {"PATH": "", name: value}
    )

    assert status == LEFT


# --- files of random lines, and some that are no longer lines of judgments or runs ---

PARAMETERS = "P.5,10 P.10,5,3 ndcg_cut.3 map_cut.7 recall.1,2,3 success.1 P. P.0 P.5,5 nope map.3"
ASKED = [*(measure.name for measure in MEASURES), *NICKNAMES, *PARAMETERS.split()]
GRADES, SCORES = [0, 0, 0, 0, 1, 1, 1, 2, 3, 9, 12, 700, -1, -2], ["1e3", "5.", ".5", "2", "7.25"]
UNUSUAL_SCORES = ["+2", "1e-400", "123456789.123456789", "x", "inf", "nan", "1" * 400]


class Fuzz:
    """Draws files and options."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def often(self, share: float) -> bool:
        return self._chance.random() < share

    def files(self) -> dict[str, bytes]:
        chance, choice = self._chance, self._chance.choice
        letters = choice(["q", "", "t-", "\u00e9" if self.often(0.1) else "x"])
        queries = list(
            dict.fromkeys(f"{letters}{chance.randint(0, 120)}" for _ in range(chance.randint(1, 6)))
        )
        docs = [choice("abcDE_9") * choice([1, 1, 1, 9]) + str(i) for i in range(40)]
        qrels, run = [], []
        for query in queries:
            if self.often(0.97):
                for doc in chance.sample(docs, chance.randint(1, 25)):
                    qrels.append(f"{query} 0 {doc} {choice(GRADES)}")
            if self.often(0.97):
                for doc in chance.sample(docs, chance.randint(1, 30)):
                    numbers = [chance.random(), chance.randint(-3, 4), choice(SCORES)]
                    score = choice(UNUSUAL_SCORES) if self.often(0.002) else choice(numbers)
                    run.append(f"{query} Q0 {doc} 1 {score} tag{choice(['', '', '2'])}")
        if self.often(0.1):
            chance.shuffle(choice([qrels, run]))
        return {"qrels": self._text(qrels), "run": self._text(run)}

    def _text(self, lines: list[str]) -> bytes:
        chance = self._chance
        if lines and self.often(0.05):
            i, line = chance.randrange(len(lines)), chance.choice(lines)
            lines[i : i + 1] = chance.choice(
                [[line, lines[i]], [""], ["# comment"], [line.rsplit(" ", 1)[0]], [f"{line} extra"],
                 [line.replace(" ", "\t")], [f"  {line} "], [f"{line}\r"],
                 [line.replace(" ", "  ")], [line[:3] + "\0" + line[3:]], []]
            )  # fmt: skip
        end = chance.choice(["\n"] * 5 + ["\r\n"])
        return (end.join(lines) + chance.choice([end, end, end, "", "\n\n"])).encode()

    def arguments(self) -> list[str]:
        choice = self._chance.choice
        words = [word for word in ("-q", "-n", "-c", "-J") if self.often(0.3)]
        for option, values in (
            ("-l", "0123x"),
            ("-M", ["1", "5", "0", "1000", "-2"]),
            ("-N", ["100"]),
        ):
            if self.often(0.2):
                words += [option, choice(values)]
        for _ in range(choice([0, 1, 1, 2, 3])):
            words += ["-m", choice(ASKED)]
        return [*words, "qrels", "run"]


def test_random_files_and_options(both):
    """500 of them, 5,000 in the deep profile of hypothesis."""
    count = 5 * settings().max_examples
    fuzz, unlike = Fuzz(20240229), []
    for _ in range(count):
        arguments, files = fuzz.arguments(), fuzz.files()
        found, expected = both(arguments, files)
        if found != expected:
            unlike.append((arguments, files, found, expected))

    assert unlike == []
    assert both.native > count / 3
