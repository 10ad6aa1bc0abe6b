"""`fastrank conformance`: what programs are told that are wrong, misbehave, or lack a measure."""

from __future__ import annotations

import json
import sys

import pytest

from tests.helpers.commands import fastrank, printed, write
from tests.helpers.paths import REPOSITORY
from tests.helpers.tables import cases, matches

METRICS = """
import json, os, subprocess, sys, time
from tests.helpers.contract import value

def right(case):
    return value(case)

def hit_rate(case):
    print("this is no answer")
    return value(case, "hit-rate-called-recall") if case["measure"] == "recall" else None

def repeats(case):
    return value(case, "repetition-counts")

def exits(case):
    return value(case) if case["ranking"] else os._exit(3)

def hangs(case):
    return time.sleep(60) if case["measure"] == "ndcg" else value(case)

def is_nan(case):
    return "nan" if case["measure"] == "ndcg" else value(case)

def leaves_a_server(case):
    subprocess.Popen(["sleep", "20"], start_new_session=True)
    return value(case)

def leaves(case):
    sys.exit("no such measure")

def is_no_number(case):
    return {("a", 1): {case["k"]}}

def fails(case):
    raise ValueError("long\\n" * 1000)

if __name__ == "__main__":
    questions = [json.loads(line) for line in sys.stdin]
    for case in reversed(questions):
        answer = None if case["measure"] == "mrr" else value(case)
        print(json.dumps({"case": case["case"], "value": answer}))
"""
TREC_EVAL = """
import subprocess, sys
measure, k, *files = sys.argv[1:]
words = [sys.executable, "-m", "fastrank", "trec_eval", "-c", "-m", f"{measure}.{k}", *files]
sys.exit(subprocess.run(words).returncode)
"""
# Functions, and what is said.
TOLD = """
metrics:right => 0 mistakes; 60 of 60 cases right.
metrics:hit_rate
  the hit rate is called recall: 8 of 8 cases [hit-rate-called-recall] In recall. Example:
    {"case": "recall-hit-rate-called-recall", ... 1.0]]}: 1.0000, expected 0.5000.
    Right: recall is the number of relevant documents in the first k, divided by all relevant ones.
    1 mistake; 13 of 21 cases right.
    Skipped, with their cases: precision (5), hit_rate (3), ... mean_ndcg (1).
m-1:right -m mrr => 0 mistakes; 1 of 1 case right.
metrics:leaves_a_server -m mrr => 0 mistakes; 1 of 1 case right.
-m mrr -- sh -c 'sleep 60 & printf "\\357\\273\\277 0.25\\r\\n"' => 0 mistakes; 1 of 1 case right.
metrics:hit_rate --ignore hit-rate-called-recall => 0 mistakes; 13 of 21 cases right. Skipped, ...
metrics:repeats
  a document that is returned twice counts twice: 4 of 4 cases [repetition-counts] ... 56 of 60
    cases right.
-m ndcg metrics:repeats => ...: 1.3066, expected 1.0000 or 0.9197. ...
metrics:exits => a query without results has no value: 3 of 3 cases [no-results-fail]...
metrics:hangs --timeout 2 -m hit_rate -m ndcg -m mrr
  no value (no answer in 2 seconds): 3 of 16 cases In ndcg. ...
    no value (not asked, after others without an answer): 10 of 16 cases In ndcg, mrr. ...
metrics:is_nan => no value (nan): 12 of 60 cases In ndcg. ... 1 mistake; 48 of 60 cases right.
--lines -- PYTHON metrics.py
  0 mistakes; 59 of 59 cases right. Skipped, with their cases: mrr (1).
-m recall -- PYTHON trec_eval.py {measure} {k} {qrels} {run}
  a query without results has no value: 1 of 1 case [no-results-fail] ... 20 of 21 cases right.
"""
# Arguments, the status, and what is said instead of a report.
REFUSED = """
-- no-such-program => 2 COMMAND: cannot run 'no-such-program': No such file or directory
-- false => 1 no case has a value: exit status 1
-- sh -c 'kill -9 $$' => 1 no case has a value: signal 9
-- sh -c 'echo no >&2; exit 3' => 1 no case has a value: exit status 3: no
-- true => 1 no case has a value: no answer
-- echo nan => 1 no case has a value: nan
-- echo 0,5 => 1 no case has a value: expected a number or null, found '0,5'
-- echo null => 1 no case has a value: all measures are lacking
-- yes => 1 no case has a value: more than 1,048,576 bytes printed
-- sleep 60 => 1 no case has a value: no answer in 2 seconds
-- sh -c 'sleep 60 & sleep 60' => 1 no case has a value: no answer in 2 seconds
-- PYTHON -c 'import os; os.close(9)'
  1 no case has a value: exit status 1: OSError: [Errno 9] Bad file descriptor
-- sh -c 'echo "TypeError: no ranking" >&2; echo "    at 1:1" >&2; echo Node.js >&2; exit 1'
  1 no case has a value: exit status 1: TypeError: no ranking
-- sh -c 'echo "undefined method (NoMethodError)" >&2; printf "\\tfrom a.rb:1" >&2; exit 1'
  1 no case has a value: exit status 1: undefined method (NoMethodError)
-- sh -c 'printf "thread \\047main\\047 panicked at a.rs:\\nout of bounds\\nx" >&2; exit 101'
  1 no case has a value: exit status 101: thread 'main' panicked at a.rs: out of bounds
metrics:leaves => 1 no case has a value: SystemExit: no such measure
metrics:is_no_number => 1 no case has a value: expected a number or null, found "{('a', 1): {3}}"
metrics:fails => 1 no case has a value: ValueError: long long ... lon
--lines -- true => 1 no case has a value: no answer
--lines -- cat
  2 COMMAND: expected lines such as {"case": "NAME", "value": 0.5}, found '{"case": ...
--lines -- echo '["mrr-mean-over-hits", 1]'
  2 COMMAND: expected lines such as {"case": "NAME", "value": 0.5}, found '["mrr-mean-over-hits"...
--lines -- printf '{"case": "mrr-mean-over-hits", "value": "x"}'
  1 no case has a value: expected a number or null, found 'x'
--lines -- sh -c 'printf "{\"case\": "; exit 1' => 1 no case has a value: exit status 1
--lines -- echo '{"case": ["x"], "value": 1}'
  2 COMMAND: answered the case "['x']" but was not asked for it
--lines -- printf '{"case": "mrr-mean-over-hits", "value": %s}\\n' 1 2
  2 COMMAND: answered the case 'mrr-mean-over-hits' twice
no_module:function
  1 no case has a value: exit status 1: ModuleNotFoundError: No module named 'no_module'
json:no => 1 no case has a value: exit status 1: AttributeError: module 'json' has no attribute 'no'
--ignore ties json:dumps => 2 --ignore: no mistake is called 'ties'...
--timeout 0 true => 2 usage: ... argument --timeout: expected a number in (0, ...], found 0
--timeout 1e300 true => 2 usage: ... expected a number in (0, ...], found 1e300
"""


@pytest.fixture(autouse=True)
def _inputs(folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    write({"metrics.py": METRICS, "m-1.py": METRICS, "trec_eval.py": TREC_EVAL})


@pytest.mark.parametrize(("arguments", "expected"), cases(TOLD))
def test_mistakes_and_what_is_right_are_told(arguments, expected):
    found = fastrank(f"conformance {arguments.replace('PYTHON', sys.executable)}")

    assert matches(found.out, expected), found.out
    assert (found.status, found.err) == (int("\n0 mistakes" not in f"\n{found.out}"), "")


@pytest.mark.parametrize(("arguments", "expected"), cases(REFUSED))
def test_what_a_program_does_wrong_is_told(arguments, expected):
    found = fastrank(
        f"conformance -m mrr --timeout 2 {arguments.replace('PYTHON', sys.executable)}"
    )

    status, _, message = expected.partition(" ")
    assert (found.status, found.out) == (int(status), "")
    assert matches(found.err.removeprefix("fastrank conformance: "), message), found.err


def test_without_a_command_the_cases_are_printed():
    lines = printed("conformance -m mrr -m recall").splitlines()

    assert {json.loads(line)["measure"] for line in lines} == {"mrr", "recall"}


def test_a_file_with_the_name_of_a_module_of_python_does_not_replace_it():
    write({"json.py": ""})

    assert printed("conformance -m mrr metrics:right") == "0 mistakes; 1 of 1 case right.\n"
