"""Each row is what the function of its kind finds; errors name the task, before any encoding."""

import pytest

import fastrank as fr
from fastrank.common.keywords import names_of
from fastrank.errors import MeasureError, OptionError, TaskError
from fastrank.vectors.embeddings.text_vectors import EncodingOptions
from fastrank.vectors.tasks.task import KINDS, evaluator, options_of
from tests.helpers.executors import started
from tests.helpers.similar_vectors import make
from tests.helpers.task_cases import CITIES, WORDS, length, letters, tasks_of_all_kinds

pytest.importorskip("faiss")
pytest.importorskip("sklearn")

MODEL, ROWS = make("real")


@pytest.fixture(scope="module")
def evaluated():
    tasks = tasks_of_all_kinds(MODEL, ROWS)
    return tasks, fr.evaluate_tasks({"real": MODEL}, tasks, progress=False)


@pytest.mark.filterwarnings("ignore:.*learning rate")
@pytest.mark.parametrize("name", KINDS)
def test_a_row_is_the_result_of_the_single_function(name, evaluated):
    tasks, results = evaluated
    task = tasks[name]
    expected = evaluator(task.kind)(MODEL, task.data, **task.options)

    found = results[name]

    assert (found.task, found.kind, found.model) == (name, name, "real")
    assert dict(found.result.mean) == dict(expected.mean)
    assert found.value == expected.mean[found.metric]
    assert found.seconds > 0
    known = set(KINDS[name](task.options))
    assert {metric for metric in found.result.mean if "threshold" not in metric} <= known
    if isinstance(expected, fr.Scores):
        assert found.rows == len(expected.queries)
    else:
        assert (found.rows, found.metric) == (expected.rows, expected.metric)


CANDIDATES = {"question": ["a e", "a e"], "answer": ["ae", "i"], "label": [1, 0]}


@pytest.mark.parametrize(
    ("task", "metric"),
    [
        # Those of MTEB by default.
        (fr.Task("retrieval", CITIES), "nDCG@10"),
        (fr.Task("reranking", CANDIDATES), "AP"),
        (fr.Task("similarity", WORDS), "cosine_spearman"),
        (fr.Task("similarity", WORDS, main_score="cosine_pearson"), "cosine_pearson"),
        # It is added to the measures.
        (fr.Task("retrieval", CITIES, main_score="RR"), "RR"),
        # The first of given measures.
        (fr.Task("retrieval", CITIES, measures="P.1 map"), "P_1"),
    ],
)
def test_the_main_score_is(task, metric):
    (found,) = fr.evaluate_tasks(letters, [task]).scores
    assert (found.metric, found.value) == (metric, found.result.mean[metric])


def test_data_of_one_kind_need_no_task():
    results = fr.evaluate_tasks(letters, [CITIES, fr.read_candidates(CANDIDATES)])
    assert results.tasks == ["retrieval", "reranking"]


def test_tasks_from_files_have_the_names_of_the_files(tmp_path):
    pairs, candidates = tmp_path / "sts.csv", tmp_path / "answers.csv"
    pairs.write_text("text_a,text_b,score\na,b,1.5\n", "utf-8")
    candidates.write_text("question,answer,label\nq,a,1\n", "utf-8")
    assert fr.Task("similarity", pairs).name == "sts"
    assert fr.Task("reranking", str(candidates)).name == "answers"
    assert fr.Task("similarity", pairs, name="other").name == "other"


def test_tasks_of_one_name_in_a_list_are_numbered():
    results = fr.evaluate_tasks(letters, [CITIES, CITIES])
    assert results.tasks == ["retrieval", "retrieval (2)"]


def test_a_pair_of_models_encodes_both_sides():
    tasks = {"pairs": fr.Task("pairs", ROWS["pairs"])}
    assert fr.evaluate_tasks((MODEL, MODEL), tasks)["pairs"].value == (
        fr.evaluate_tasks(MODEL, tasks)["pairs"].value
    )


def test_vectors_of_several_models_are_cached_under_their_names(tmp_path):
    tasks = {"cities": CITIES, "words": fr.Task("similarity", WORDS)}
    models = {"letters": letters, "length": length}
    expected = fr.evaluate_tasks(models, tasks)
    for _ in range(2):
        found = fr.evaluate_tasks(models, tasks, cache=tmp_path)
    assert [one.value for one in found.scores] == [one.value for one in expected.scores]
    names = [path.name for path in tmp_path.rglob("*.npy")]
    assert sum("letters" in name for name in names) == sum("length" in name for name in names) == 3


def test_the_batch_size_of_a_task_has_precedence():
    seen = {}

    def model(texts, batch_size):
        seen.setdefault("mole" if "a mole" in texts else "other", set()).add(batch_size)
        return letters(texts)

    tasks = [
        fr.Task("similarity", WORDS, batch_size=3),
        fr.Task("pairs", (["b", "e"], ["c", "i"], [1, 0])),
    ]
    fr.evaluate_tasks(model, tasks, batch_size=5)

    assert seen["mole"] == {3}
    assert 5 in seen["other"]


@pytest.mark.filterwarnings("ignore:.*(learning rate|1e-12|probabilities)")
def test_transformers_that_are_fitted_on_each_training_part_are_not_cached(tmp_path):
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [f"{'good' if row % 2 else 'bad'} film {row}" for row in range(400)]
    task = fr.TextTask.from_texts(texts, labels=[row % 2 for row in range(400)])
    probe = fr.Task("classification", task, repetitions=1, epochs=1)
    results = fr.evaluate_tasks(TfidfVectorizer(), [probe], cache=tmp_path, cache_name="tf-idf")
    expected = fr.evaluate_tasks(TfidfVectorizer(), [probe])
    assert results["classification"].value == expected["classification"].value
    assert not list(tmp_path.rglob("*.npy"))


def test_tasks_have_every_option_of_encoding_but_those_of_all_tasks():
    own = set(names_of(EncodingOptions)) - {"cache", "cache_name", "progress"}
    assert own <= set(options_of("similarity"))
    assert own <= set(options_of("classification"))


def evaluate(tasks=(CITIES,), models=letters, **options):
    return fr.evaluate_tasks(models, list(tasks), **options)


MISSPELT = {"main_score": "cosine_spearmann"}
BOTH = {"a": letters, "b": length}


@pytest.mark.parametrize(
    ("make", "error", "reason"),
    [
        (lambda: fr.Task("similarty", WORDS), OptionError, "did you mean 'similarity'"),
        (lambda: fr.Task("triplets", WORDS, margn=1), TypeError, "did you mean 'margin'"),
        (lambda: fr.Task("classification", WORDS, kfold=3), TypeError, "no option 'kfold'"),
        (lambda: fr.Task("pairs", WORDS, cache="x"), TypeError, "give it to evaluate_tasks"),
        (lambda: fr.Task("retrieval", CITIES, measures="mapp"), MeasureError, "did you mean"),
        (lambda: fr.Task("retrieval", CITIES, main_score="nDGC@10"), MeasureError, "nDCG"),
        (lambda: fr.Task("similarity", WORDS, **MISSPELT), OptionError, "'cosine_spearman'"),
        (lambda: evaluate([]), OptionError, "at least one task"),
        (lambda: evaluate(models={}), OptionError, "at least one model"),
        (lambda: evaluate(models={"kind": letters}), OptionError, "rename the"),
        (lambda: evaluate(models=[[1.0]]), TypeError, "found vectors"),
        (lambda: evaluate(models="mini"), TypeError, "load the model first"),
        (lambda: evaluate([fr.TextTask.from_texts(["a"])]), TypeError, "state its kind"),
        (lambda: evaluate(cache="x"), OptionError, "cache_name"),
        (lambda: evaluate(models=BOTH, cache_name="x"), OptionError, "cached under their names"),
    ],
)
def test_errors(make, error, reason):
    with pytest.raises(error, match=reason):
        make()


@pytest.mark.parametrize(
    ("kind", "data", "options", "reason"),
    [
        ("similarity", (["a", "b"], ["a", "b"], ["x", "y"]), {}, r"scores\[0\]: expected a number"),
        ("pairs", (["a", "b"], ["a", "b"], [1, 2]), {}, "expected labels 0 and 1"),
        ("pairs", (["a", "b"], ["a", "b"], [1, 0]), {"protocol": "x"}, "protocol: "),
        ("triplets", WORDS[:2], {}, "expected 3 texts"),
        ("classification", (["a", "b"], ["x", "x"]), {}, "at least two classes"),
        ("classification", (["a", "b"], ["x", "y"]), {"folds": 1}, "folds: expected 2 or more"),
        ("retrieval", CITIES, {"k": 0}, "k: expected 1 or more"),
        ("retrieval", CITIES, {"metric": "l1"}, "metric: "),
    ],
)
def test_invalid_tasks_are_named_before_a_text_is_encoded(kind, data, options, reason):
    calls = []
    tasks = {"fine": CITIES, "wrong": fr.Task(kind, data, **options)}
    with pytest.raises(TaskError, match=f"^task 'wrong': .*{reason}") as error:
        fr.evaluate_tasks(calls.append, tasks)
    assert (error.value.task, error.value.model, error.value.before) == ("wrong", None, None)
    assert calls == []


def test_an_index_that_needs_the_real_dimension_is_not_refused_before():
    task = fr.Task("retrieval", CITIES, index_factory="PCA3,Flat")
    with pytest.raises(TaskError, match="task 'retrieval', model 'two': index_factory"):
        fr.evaluate_tasks({"letters": letters, "two": length}, [task])


def test_an_error_names_task_and_model_and_keeps_the_results_before():
    def broken(texts):
        if "a mole" in texts:
            raise RuntimeError("out of memory")
        return letters(texts)

    with pytest.raises(TaskError, match=r"^task 'words', model 'broken': out of memory") as error:
        fr.evaluate_tasks(broken, {"cities": CITIES, "words": fr.Task("similarity", WORDS)})

    assert isinstance(error.value.__cause__, RuntimeError)
    assert error.value.before.tasks == ["cities"]


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_an_executor_finds_the_same(kind):
    tasks = {"cities": CITIES, "words": fr.Task("similarity", WORDS)}
    expected = fr.evaluate_tasks({"letters": letters, "length": length}, tasks)
    with started(kind) as executor:
        found = fr.evaluate_tasks({"letters": letters, "length": length}, tasks, executor=executor)
    columns = ("model", "task", "kind", "metric", "score", "rows")
    assert str(found.table(columns=columns)) == str(expected.table(columns=columns))
