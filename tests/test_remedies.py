"""Every remedy that an error names works: the call that fails, the words, the call that follows."""

from __future__ import annotations

import ast
import re
from concurrent.futures import ThreadPoolExecutor as threads  # noqa: F401, N813
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.searching import Shards, build_index, write_index
from tests.helpers.commands import fastrank
from tests.helpers.paths import REPOSITORY
from tests.helpers.tables import cases

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d3": 2}}
RUN = {"q1": {"d1": 0.5, "d2": 0.75}, "q2": {"d3": 0.5, "d1": 0.25}}
OTHER = {"q1": {"d1": 0.75, "d2": 0.5}, "q2": {"d3": 0.25, "d1": 0.5}}
VECTORS = np.eye(4, dtype=np.float32)
HITS = '{"hits": {"hits": [{"_id": "d1", "_score": 2}]}}'
FILES = {
    "qrels": "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 0\nq2 0 d3 2\n",
    "run": "q1 Q0 d1 1 0.5 a\nq1 Q0 d2 2 0.75 a\nq2 Q0 d3 1 0.5 a\nq2 Q0 d1 2 0.25 a\n",
    "other": "q1 Q0 d1 1 0.75 b\nq1 Q0 d2 2 0.5 b\nq2 Q0 d3 1 0.25 b\nq2 Q0 d1 2 0.5 b\n",
    "three.csv": "q1,d1,5\nq1,d2,3\n",
    "header.csv": "query,doc,score\nq1,d1,5\nq1,d2,3\n",
    "tags.csv": "query,doc,score,tag\nq1,d1,5,a\nq1,d2,3,b\n",
    "titled.qrels": "query-id corpus-id score\nq1 0 d1 1\n",
    "texts.csv": "red,1\nblue,0\n",
    "titled.csv": "text,label\nred,1\nblue,0\n",
    "named.csv": "phrase,kind,year\nred,1,3\nblue,0,3\n",
    "ids.txt": "d1\nd2\nd3\nd4\n",
    "latin.tsv": b"q\tcaf\xe9\n",
    "comma.csv": 'query,doc,score\nq1,d1,"0,5"\n',
    "comma": "q1 Q0 d1 1 0,5 a\n",
    "twice.csv": "query,pid,doc,grade\nq1,a,b,1\n",
    "msmarco": "q1 d1 1\nq1 d2 2 3 4 5\n",
    "msmarco.tsv": "q1\td1\t1\nq1\td2\t2\n",
    "case": "Q1 Q0 d1 1 0.5 a\nq2 Q0 d3 1 0.25 a\n",
    "sample": "1 0 d1 1 2\n1 0 d2 1 0\n1 0 d3 2 -1\n",
    "rows.csv": "run,query,measure,value\na,q1,map,0.5\n",
    "two.csv": "run,query,measure,value\nb,q1,map,0.5\nb,q1,P_5,0.5\n",
    "means.csv": "run,query,measure,value\na,,map,0.5\n",
    "subtasks.xml": '<root><OrgQuestion ORGQ_ID="Q1"><OrgQSubject>a</OrgQSubject><OrgQBody>b'
    '</OrgQBody><Thread THREAD_SEQUENCE="Q1_R1"><RelQuestion RELQ_ID="Q1_R1"'
    ' RELQ_RELEVANCE2ORGQ="Relevant"><RelQSubject>c</RelQSubject><RelQBody>d</RelQBody>'
    "</RelQuestion></Thread></OrgQuestion></root>",
    "damaged.json": '{"format": "fastrank-baseline-1"}',
    "floats.json": '{"q1": {"d1": 0.5}}',
    "dpr.json": '[{"ctxs": [{"id": "d1", "score": 2, "has_answer": true}]}, {"ctxs": []}]',
    "spans.csv": "query,document,start,end\nq1,a,0,9\n",
    "chunks.csv": "chunk,document,start,end\nd1,a,0,4\n",
    "response.json": HITS,
    "responses.json": f'{{"q1": {HITS}}}',
    "named.json": HITS.replace("{", '{"query_id": "q1", ', 1),
    "ambiguous.json": '{"q1": {"d1": 1}}',
    "case.json": '{"queries": [{"query": "q1", "ratings": {"d1": 3}}]}',
    "lists.csv": "query,docs\nq1,\"['d1']\"\n",
    "lists.json": '[{"query": "q1", "docs": ["d1"]}]',
    "ragas.json": '[{"query": "q1", "docs": ["d2", "d1"], "gold": ["d1"]}]',
    "rated.csv": "query,doc,rating\nred hat,d1,1\nred hat,d1,2\n",
    "hats.csv": "query,doc,score\nred hat,d1,1\n",
    "truths.csv": "query,doc,grade\nq1,d1,yes\n",
}


class Named:
    """A document as LangChain has it, whose text does not name it."""

    def __init__(self, id: str | None) -> None:
        self.id = id

    def __str__(self) -> str:
        return "page_content='text'"


def scores(run: Any = RUN, measure: str = "map", **options: Any) -> fr.Scores:
    return fr.evaluate(QRELS, run, measure, **options)


def compared(measures: str = "map", **options: Any) -> fr.types.Comparison:
    return fr.compare(QRELS, {"a": RUN, "b": OTHER}, measures, **options)


def swapped(**options: Any) -> fr.types.Comparison:
    return compared(test="randomization", **options)


def raw_only(ranking: fr.types.Ranking, rel: float = 0.0) -> float:
    return rel


def raw_renamed(ranking: fr.types.Ranking, lowest: float = 0.0) -> float:
    return lowest


def tagged() -> Any:
    """A frame with two runs."""
    import pandas

    return pandas.read_csv("tags.csv")


def saved() -> str:
    fr.save_baseline("base.json", QRELS, RUN, "map")
    return "base.json"


def truncated() -> str:
    Path(saved()).write_bytes(Path("base.json").read_bytes()[:-9])
    return "base.json"


def doubled() -> Any:
    """A frame with two columns of one name."""
    return tagged().set_axis(["query", "doc", "score", "score"], axis=1)


def without_ids() -> str:
    """An index whose ids were not written."""
    write_index(build_index(VECTORS, ids=["d1", "d2", "d3", "d4"]), "killed.faiss")
    Path("killed.faiss.ids.npy").write_bytes(b"")
    return "killed.faiss"


def hole() -> str:
    fr.save_baseline("hole.json", QRELS, RUN, "Hole@5", missing="zero")
    return "hole.json"


def shard(name: str, *factory: str) -> Shards:
    """One shard: vectors, or an index."""
    if factory:
        write_index(build_index(VECTORS, *factory), name)
    else:
        np.save(name, VECTORS)
    return Shards([name])


def tasks() -> fr.tasks.TaskResults:
    """Of two models in one task where higher is better, and one where lower is better."""
    kinds = [fr.Task("retrieval", CITIES, name=one, measures=one) for one in ("RR", "FirstRank")]
    return fr.evaluate_tasks({"model": model, "turned": turned}, kinds)


def model(texts: list[str]) -> Any:
    return [[1.0, len(text)] for text in texts]


def turned(texts: list[str]) -> Any:
    return [[len(text), 1.0] for text in texts]


TEXTS = fr.Dataset.from_texts({"d": "text"}, {"q": "ask"}, {"q": {"d": 1}})
CITIES = fr.Dataset.from_texts(
    {"d": "Rome", "e": "Bergen"}, {"q": "Lazio", "r": "Norge"}, {"q": {"d": 1}, "r": {"e": 1}}
)
ARTICLES = fr.Dataset.from_articles(
    [{"id": "a", "embedding": [1.0], "similar": ["b"]}, {"id": "b", "embedding": [2.0]}]
)
LABELS = [0, 0, 1, 1]
# In Python: what fails, words of the message, what follows it.
PYTHON = cases("""
# Measures.
scores(measure='map.10') => ; for a cutoff use map_cut.10 => scores(measure='map_cut.10')
scores(measure='rbp.95')
  ; for the persistence of ranx use RBP(p=0.95), or for graded judgments RBP(p=0.95,gain='raw')
  scores(measure="RBP(p=0.95) RBP(p=0.95,gain='raw')")
scores(measure='map@9-l2') => ; -l is the notation of ranx, use AP(rel=2)@9
  scores(measure='AP(rel=2)@9')
scores(measure='precision') => ; for example P@10, or SetP for all retrieved documents
  scores(measure='P@10 SetP')
scores(measure='recall@k R()') => expected a whole number of at least 1
  scores(measure='recall@1 R(cutoff=1) SetR')
scores(measure='R(rel=1)') => ; for example R@10, or SetR for all retrieved documents
  scores(measure='R(rel=1)@10 SetR')
scores(measure='spearman') => ; for labels and scores without queries use fastrank.tasks.spearman
  fr.tasks.spearman([1, 2], [1, 3])
scores(measure='ndcg.1=2 ndcg.1=3') => : give the parameters of ndcg only once
  scores(measure='ndcg.1=2')
scores(measure='nDCG(max_grade=3)@5') => needs ideal='max'
  scores(measure="nDCG(ideal='max',max_grade=3)@5 nDCG@5")
scores(measure="nDCG(dcg='exp-log2',gains={1:2})") => ; give only one
  scores(measure="nDCG(dcg='exp-log2') nDCG(gains={1:2})")
scores(measure="nDCG(ideal='max')") => needs a cutoff, as in nDCG(ideal='max')@10
  scores(measure="nDCG(ideal='max')@10")
fr.Run.from_pandas(doubled()) => ; rename one of them
  fr.Run.from_pandas(doubled().set_axis(['query', 'doc', 'score', 'other'], axis=1))
fr.searching.read_index(without_ids()) => ; write the index again
  (write_index(build_index(VECTORS), 'killed.faiss'), fr.searching.read_index('killed.faiss'))
scores(measure=raw_only) => ; rename the parameter => scores(measure=raw_renamed)
# Options.
fr.evaluate(QRELS, RUN, 'map', level=2) => ; did you mean 'relevance_level'?
  fr.evaluate(QRELS, RUN, 'map', relevance_level=2)
fr.fuse([RUN, OTHER], 'wsum') => ; did you mean 'convex'? => fr.fuse([RUN, OTHER], 'convex')
fr.compare(QRELS, {'a': RUN, 'b': OTHER}, 'map', baseline='A1') => ; did you mean 'a'?
  fr.compare(QRELS, {'a': RUN, 'b': OTHER}, 'map', baseline='a')
# Formats.
fr.read_qrels('dpr.json') => found none; fastrank.datasets.answer_qrels judges a run
  fr.datasets.answer_qrels({0: ['red'], 1: ['a']}, fr.read_run('dpr.json'), {'d1': 'red'})
fr.read_run('response.json')
  : write {query: response}, or add the key 'query_id' to each response
  fr.read_run('responses.json'), fr.read_run('named.json')
fr.read_candidates('subtasks.xml') => ; set format to 'semeval-a', 'semeval-b', 'semeval-c'
  fr.read_candidates('subtasks.xml', 'semeval-b')
fr.evaluate_arrays('qrels', [[0], [2]], None, 'map', queries=['q1', 'q2'])
  ; give a dict {query: {row of the document: grade}} instead
  fr.evaluate_arrays({'q1': {0: 1}}, [[0]], None, 'map', queries=['q1'])
fr.read_run('three.csv')
  ; add a header, or set columns={'query': 0, 'doc': 1, 'score': 2} (or 'rank': 2)
  fr.read_run('header.csv'), fr.read_run('three.csv', columns={'query': 0, 'doc': 1, 'score': 2}),
    fr.read_run('three.csv', columns={'query': 0, 'doc': 1, 'rank': 2})
fr.read_run('tags.csv')
  ; select the rows of one, or give all rows one new tag: fr.read_run(..., tag=NAME)
  fr.read_run('tags.csv', tag='c')
fr.evaluate(QRELS, tagged(), 'map')
  ; select the rows of one, or give all rows one new tag: fr.Run.from_pandas(..., tag=NAME)
  fr.evaluate(QRELS, tagged()[tagged()['tag'] == 'a'], 'map'), fr.Run.from_pandas(tagged(), tag='c')
scores(measure='map P.1').interval() => found 2 measures; name one: map, P_1
  scores(measure='map P.1').interval('P_1'), scores().interval()
fr.read_qrels('titled.qrels') => ; is this a header? Remove the line => fr.read_qrels('qrels')
fr.write_run(fr.Run.from_dict(RUN), 'a.xyz') => ; set format=, or use a name ending in
  fr.write_run(fr.Run.from_dict(RUN), 'a.xyz', format='csv'), fr.write_run(fr.Run.from_dict(RUN),
    'a.csv')
fr.write_qrels(fr.Qrels.from_dict({'q': {'d': 0.5}}), 'a.trec') => ; use another format
  fr.write_qrels(fr.Qrels.from_dict({'q': {'d': 0.5}}), 'a.json')
fr.write_qrels(fr.Qrels.from_dict(QRELS), 'a.sample', format='sample') => ; use another format
  fr.write_qrels(fr.Qrels.from_dict(QRELS), 'a.trec')
fr.Qrels.from_dict({'query': ['q'], 'doc': ['d'], 'grade': [1]}['query'])
  expected {query: {document: grade}} => fr.Qrels.from_dict({'q': {'d': 1}})
fr.compare(QRELS, [RUN, RUN], 'gm_map') => ; compare map instead
  fr.compare(QRELS, [RUN, RUN], 'map')
fr.evaluate_embeddings(VECTORS[:1], VECTORS, {0: {1: 1, 4: 1}}, 'map')
  ; pass the ids of the vectors as corpus_ids (--corpus-ids)
  fr.evaluate_embeddings(VECTORS[:1], VECTORS, {0: {1: 1, 4: 1}}, 'map', query_ids=[0],
    corpus_ids=[1, 2, 3, 4])
fr.Qrels(1) => ; create it with Qrels.from_ => fr.Qrels.from_dict(QRELS)
fr.Run.from_arrays([1.0], ['d'], [0.5])
  ; use integers or strings (pandas converts integers to floats in columns with missing values)
  fr.Run.from_arrays([1], ['d'], [0.5]), fr.Run.from_arrays(['1'], ['d'], [0.5])
fr.Qrels.from_dict({1: {'d': 1}, '1': {'d': 1}}) => ; use ids of one type
  fr.Qrels.from_dict({1: {'d': 1}, 2: {'d': 1}})
# Comparisons.
compared(test='tukey', correction='holm') => ; omit 'holm' => compared(test='tukey')
compared(correction='max-t') => 'max-t' needs a baseline; for all pairs use test='tukey'
  compared(correction='max-t', baseline='a'), compared(test='tukey')
compared(correction='max-t', baseline='a', family='all') => ; omit family='all'
  compared(correction='max-t', baseline='a')
compared(clusters={'q1': 1, 'q2': 2}) => ; use test='randomization'
  swapped(clusters={'q1': 1, 'q2': 2}, interval='percentile')
swapped(clusters={'q1': 1, 'q2': 2}, interval='t') => ; use interval='percentile'
  swapped(clusters={'q1': 1, 'q2': 2}, interval='percentile')
fr.compare(QRELS, {'a': RUN}, 'map', baseline='a') => ; compare it with another
  compared(baseline='a')
compared(baseline='a').plot('critical-difference') => needs all pairs; compare without a baseline
  compared().plot('critical-difference')
compared(baseline='a').to_markdown(letters=True)
  letters: needs all pairs; compare without a baseline => compared().to_markdown(letters=True)
compared(interval='none', baseline='a').to_latex(show='interval') => ; compare with interval='t'
  compared(interval='t', baseline='a').to_latex(show='interval')
compared('P@1').plot('over-k') => 1,5,10,20,100 => compared('P@1,5,10,20,100').plot('over-k')
compared().plot('precision-recall') => needs the measure iprec_at_recall; compare with it
  compared('iprec_at_recall').plot('precision-recall')
compared().plot('scater') => ; did you mean 'scatter'? => compared().plot('scatter')
fr.rbo(fr.Run.from_dict(RUN), fr.Run.from_dict(RUN)) => ; for runs, use overlap
  fr.overlap(RUN, RUN)
fr.agreement([scores(), scores()], [scores(), scores()]) => ; use {system: Scores}
  fr.agreement({'a': scores(), 'b': scores(OTHER)}, {'a': scores(), 'b': scores(OTHER)})
fr.compare_scores([{'llm': 'a', 'x': 1}, {'llm': 'b', 'x': 2}]) => ; name one `item` or `system`
  fr.compare_scores([{'system': 'a', 'x': 1}, {'system': 'b', 'x': 2}])
fr.compare_scores([{'system': 'a', 'dataset': name, 'item': 1, 'acc': 1} for name in 'xy'])
  ; use compare_datasets
  fr.compare_datasets([{'system': 'a', 'dataset': name, 'item': 1, 'acc': 1} for name in 'xy'])
fr.agreement({'a': scores(measure='map RR')}, {'a': scores()}) => ; use {system: score}
  fr.agreement({'a': 0.5, 'b': 0.25}, {'a': 0.5, 'b': 0.25})
scores().by_group({'q1': 'g'}) => (use rest= to assign one)
  scores().by_group({'q1': 'g'}, rest='h')
# Explanations.
fr.explain(QRELS, RUN, 'map', query='q01') => ; did you mean 'q1'?
  fr.explain(QRELS, RUN, 'map', query='q1')
fr.explain(QRELS, RUN, 'map', query='q1').difference('map') => ; give another one as other=
  fr.explain(QRELS, RUN, 'map', query='q1', other=OTHER).difference('map')
fr.explain(QRELS, RUN, against={'Accuracy@5': 0.5}) => Omit it, or give Accuracy@5=MEASURE
  fr.explain(QRELS, RUN, 'Accuracy@5=Success@5', against={'Accuracy@5': 0.5})
fr.explain(QRELS, RUN, 'P', against={'P': 0.5}) => ; name one of them
  fr.explain(QRELS, RUN, 'P_5', against={'P_5': 0.5})
fr.explain(QRELS, RUN, 'map') => name a query, or a second run (other) to find one
  fr.explain(QRELS, RUN, 'map', query='q1'), fr.explain(QRELS, RUN, 'map', other=OTHER)
fr.explain(QRELS, RUN, 'map', other=RUN) => ; name a query
  fr.explain(QRELS, RUN, 'map', query='q1', other=RUN)
# Fusion.
fr.tune_fusion(QRELS, [RUN, OTHER], 'map', 'isr') => ; try other options with grid={option: values}
  fr.tune_fusion(QRELS, [RUN, OTHER], 'map', 'isr', folds=2, grid={'depth': [1, 2]})
fr.tune_fusion(QRELS, [RUN, OTHER], 'map', folds=2, grid={'weights': 10**6})
  ; try fewer steps with grid={'weights': 4}
  fr.tune_fusion(QRELS, [RUN, OTHER], 'map', folds=2, grid={'weights': 4})
fr.tune_fusion(QRELS, [RUN, OTHER], 'map', folds=2, grid={'weights': 4}, weights=[1, 2])
  ; omit one of them => fr.tune_fusion(QRELS, [RUN, OTHER], 'map', folds=2, grid={'weights': 4})
fr.fuse([{'q': {'d': float('inf')}}, {'q': {'d': 1.0}}], 'combsum')
  ; use a method by rank, such as rrf
  fr.fuse([{'q': {'d': float('inf')}}, {'q': {'d': 1.0}}], 'rrf')
fr.fuse([{'q': {'d': 1.7e308}}, {'q': {'d': 1.7e308}}], 'combsum', normalization='none')
  ; use a normalization or method by rank
  fr.fuse([{'q': {'d': 1.7e308}}, {'q': {'d': 1.7e308}}], 'combsum', normalization='rank'),
    fr.fuse([{'q': {'d': 1.7e308}}, {'q': {'d': 1.7e308}}], 'rrf')
# Vectors.
fr.search(VECTORS, VECTORS, k=1, parameters='nprobe=1') => ; use them with an Index
  fr.search(VECTORS, build_index(VECTORS, 'IVF1,Flat'), k=1, parameters='nprobe=1')
build_index(VECTORS, 'IDMap,Flat') => : use ids= instead of IDMap
  build_index(VECTORS, 'Flat', ids=['a', 'b', 'c', 'd'])
fr.evaluate_embeddings(VECTORS[:1], VECTORS, {'q': {'d1': 1}}, 'map', query_ids=['q'])
  ; pass the ids of the vectors as corpus_ids
  fr.evaluate_embeddings(VECTORS[:1], VECTORS, {'q': {'d1': 1}}, 'map', query_ids=['q'],
    corpus_ids=['d1', 'd2', 'd3', 'd4'])
fr.search(VECTORS * 1e30, VECTORS * 1e30, k=1, metric='ip')
  ; scale the vectors, or use metric='cosine'
  fr.search(VECTORS, VECTORS, k=1), fr.search(VECTORS * 1e10, VECTORS * 1e10, k=1, metric='cosine')
fr.search(VECTORS, shard('a.npy'), k=1, parameters='nprobe=1')
  exact search has no parameters; use them with indexes
  fr.search(VECTORS, shard('a.index', 'IVF1,Flat'), k=1, parameters='nprobe=1')
fr.search(build_index(VECTORS).faiss, VECTORS, k=1)
  ; pass it as the corpus of search or evaluate_embeddings
  fr.search(VECTORS, build_index(VECTORS).faiss, k=1), fr.evaluate_embeddings(VECTORS,
    build_index(VECTORS).faiss, {'0': {'1': 1}}, 'map')
# Tasks.
tasks().compare() => lower is better for FirstRank of 'FirstRank'; give one of 'RR'
  tasks().compare('RR')
tasks().compare('FirstRank') => is not a mean over queries or rows; give one of 'RR'
  tasks().compare('RR')
fr.evaluate_labels([[-1, 1]], [[0.5, 0.25]], 'map') => (see mask=), found
  fr.evaluate_labels([[-1, 1]], [[0.5, 0.25]], 'map', mask=[[False, True]])
fr.evaluate_tasks(len, fr.TextTask.from_texts(['a', 'b'], ['b', 'c'], labels=[1, 2]))
  ; state its kind: Task('similarity', texts)
  fr.Task('similarity', fr.TextTask.from_texts(['a', 'b'], ['b', 'c'], labels=[1, 2]))
fr.TextTask.from_table('texts.csv')
  ; add one, or set columns={'text_a': NAME} if these are the names of the columns
  fr.TextTask.from_table('titled.csv'), fr.TextTask.from_table('named.csv', columns={'text_a':
    'phrase', 'label': 'kind'})
fr.TextTask.from_table([{'x': 'red'}]) => ; or set columns={'text_a': NAME}
  fr.TextTask.from_table([{'x': 'red'}], columns={'text_a': 'x'})
# Gates.
fr.gate('damaged.json', QRELS, RUN) => ; write one with `fastrank gate save`
  fr.gate(saved(), QRELS, RUN)
fr.gate(truncated(), QRELS, RUN) => ; restore it, or save it again => fr.gate(saved(), QRELS, RUN)
fr.gate(hole(), QRELS, {'q1': RUN['q1']}, missing='zero') => where lower is better; add the results
  fr.gate(hole(), QRELS, RUN, missing='zero')
fr.gate(saved(), QRELS, RUN, policy='non-inferior', test='randomization') => ; omit 'randomization'
  fr.gate(saved(), QRELS, RUN, policy='non-inferior', max_drop=0.1)
fr.gate(saved(), {'q1': {'d1': 2}}, RUN)
  ; save a new baseline, or allow other qrels to compare the common queries
  fr.save_baseline('base.json', {'q1': {'d1': 2}}, RUN, 'map'), fr.gate(saved(), {'q1': {'d1': 2}},
    RUN, allow_other_qrels=True)
fr.gate(saved(), QRELS, RUN, trec_eval_version='10.0')
  ; save a new baseline, or choose that version
  fr.gate(saved(), QRELS, RUN, trec_eval_version='9.0.8')
fr.gate(saved(), QRELS, RUN, depth=1) => ; use the same, or save a new baseline
  fr.gate(saved(), QRELS, RUN)
fr.gate(saved(), QRELS, RUN, measures='RR') => ; use the same, or save a new baseline
  fr.gate(saved(), QRELS, RUN, measures='map')
fr.gate(saved(), {'q9': {'d1': 1}}, {'q9': {'d1': 1.0}}, allow_other_qrels=True)
  ; save a new baseline
  fr.save_baseline('new.json', {'q9': {'d1': 1}}, {'q9': {'d1': 1.0}}, 'map'), fr.gate('new.json',
    {'q9': {'d1': 1}}, {'q9': {'d1': 1.0}})
# Data sets and models.
fr.evaluate_model(model, ARTICLES, 'RR') => ; omit the model to use its vectors
  fr.evaluate_model(None, ARTICLES, 'RR')
fr.Dataset.from_articles([{'id': 'a', 'text': 'x', 'similar': ['b'], 'labels': ['b']}, {'id': 'b',
    'text': 'y'}])
  ; set columns={'similar': NAME}
  fr.Dataset.from_articles([{'id': 'a', 'text': 'x', 'similar': ['b'], 'labels': ['b']}, {'id': 'b',
    'text': 'y'}], columns={'similar': 'similar'})
fr.Dataset.from_articles([{'id': 'a', 'text': 'x', 'similar': ['b', 'c']}, {'id': 'b', 'text':
    'y'}])
  ; use unknown='keep' or 'drop' to allow it
  [fr.Dataset.from_articles([{'id': 'a', 'text': 'x', 'similar': ['b', 'c']}, {'id': 'b', 'text':
    'y'}], unknown=one) for one in ('keep', 'drop')]
fr.Dataset.from_pairs([{'ask': 'x', 'positive': 'y'}]) => ; or set columns={'query': NAME}
  fr.Dataset.from_pairs([{'ask': 'x', 'positive': 'y'}], columns={'query': 'ask'})
fr.Dataset.from_files('latin.tsv', 'latin.tsv', {'q': {'d': 1}})
  ; use encoding='latin-1' for older collections
  fr.Dataset.from_files('latin.tsv', 'latin.tsv', {'q': {'q': 1}}, encoding='latin-1')
fr.evaluate_model(model, TEXTS, 'RR', cache='cache', cache_name='m'), fr.evaluate_model(turned,
    TEXTS, 'RR', cache='cache', cache_name='m')
  ; use a different cache_name for each model
  fr.evaluate_model(turned, TEXTS, 'RR', cache='cache', cache_name='turned')
fr.evaluate_model(model, TEXTS, 'RR', cache='new') => cache and cache_name must be given together
  fr.evaluate_model(model, TEXTS, 'RR', cache='new', cache_name='m')
fr.evaluate_tasks({'task': model}, {'a': TEXTS}) => ; rename the model
  fr.evaluate_tasks({'length': model}, {'a': TEXTS})
# Files.
fr.evaluate('qrels', ['-'], 'map', executor=threads())
  workers cannot read standard input (-); read it first
  fr.evaluate('qrels', [fr.read_run('run')], 'map', executor=threads())
fr.evaluate({'queries': [{'query': 'q1', 'ratings': {'d1': 3}}]}, RUN, 'map')
  ; pass the JSON file itself, which is read => fr.evaluate('case.json', RUN, 'map')
fr.evaluate(QRELS, {'need': ['q1'], 'doc_id': ['d1'], 'score': [0.5]}, 'map')
  ; if these are columns, one has to be called query_id
  fr.evaluate(QRELS, {'query_id': ['q1'], 'doc_id': ['d1'], 'score': [0.5]}, 'map')
fr.evaluate(QRELS, {'q1': [Named('d1')]}, 'map') => ; pass its id
  fr.evaluate(QRELS, {'q1': [Named('d1').id]}, 'map')
fr.evaluate(QRELS, {'q1': [Named(None)]}, 'map') => ; pass its id, or str() of it
  fr.evaluate(QRELS, {'q1': [str(Named(None))]}, 'map')
fr.evaluate(QRELS, [('q1', 'd1', 1.0), ('q1', 'd2', 2.0)], 'map')
  ; give integers for ranks, or {query: {document: score}}
  fr.evaluate(QRELS, [('q1', 'd1', 1), ('q1', 'd2', 2)], 'map')
fr.read_run('lists.csv') => ; use JSON or parquet => fr.read_run('lists.json')
fr.read_qrels('truths.csv') => : write 1 for yes and 0 for no
  fr.read_qrels('twice.csv', columns={'doc': 'pid'})
fr.read_run('comma.csv') => : use a point, not a comma, for decimals => fr.read_run('header.csv')
fr.write_qrels(fr.read_qrels('sample'), 'a', 'trec') => ; use the format sample
  fr.write_qrels(fr.read_qrels('sample'), 'a', format='sample')
fr.read_qrels('twice.csv') => ; to choose one, use read_qrels(..., columns={'doc': NAME})
  fr.read_qrels('twice.csv', columns={'doc': 'pid'})
""")
# On the command line: what fails, the status and words of the message, what follows it.
COMMANDS = cases("""
eval -m map qrels tags.csv => 1 , or set --columns tag= to read all as one run
  eval -m map --columns tag= qrels tags.csv
eval -f csv qrels run => 2 ; did you mean --format? => eval --format csv qrels run
eval --interval t --seed 1 --format csv qrels run => 2 ; use --interval bca
  eval --interval bca --seed 1 --format csv qrels run
eval --interval t -n --format csv qrels run => 2 -n leaves out means; omit -n
  eval --interval t --format csv qrels run
eval --interval t -q --format csv qrels run => 2 has none; omit -q
  eval --interval t --format csv qrels run
evaluate qrels run => 2 ; did you mean `fastrank eval`? => eval qrels run
eval -m foo qrels run => 2 ; `fastrank measures` lists all => measures
eval -m Rbp qrels run
  2 expected RBP or rbp, which are different measures: see `fastrank measures RBP rbp`
  measures RBP rbp
eval -m F0.5@1 qrels run
  2 ; for the F of van Rijsbergen with beta 0.5 use SetF(beta=0.25) with --depth 1
  eval -m SetF(beta=0.25) --depth 1 qrels run
trec_eval -m 'map P.5' qrels run => 1 ; repeat -m: -m map -m P.5
  trec_eval -m map -m P.5 qrels run
explain --query q1 --document d1 --format csv qrels run => 2 ; omit it
  explain --query q1 --document d1 qrels run
eval -o a.pdf qrels run => 2 ; set --format, or use a name that ends in
  eval -o a.csv qrels run && eval -o a.pdf --format csv qrels run
eval --format csv --no-bold qrels run other => 2 ; use table, markdown, latex or html
  eval --format markdown --no-bold qrels run other && eval --format latex --no-bold qrels run other
agree --systems rows.csv rows.csv
  1 has no means; write it with `fastrank eval --format csv` without -q
  eval --format csv -m map -o a.csv qrels run other && agree --systems a.csv a.csv
compare -o a.json --save a.json qrels run => 2 is also the file of -o; name another
  compare -b run -o a.csv --save b.json qrels run other
compare --letters -b run --format markdown qrels run other => 2 needs all pairs; omit --baseline
  compare --letters --format markdown qrels run other
compare --save a.json qrels run other => 2 needs one run, or one --baseline, whose values are saved
  compare --save a.json -b run qrels run other
compare --save a.json -b run qrels - other => 2 standard input cannot be read twice; name a file
  compare --save a.json -b run qrels run other
convert run a.xyz => 2 unknown format; use --format => convert --format csv run a.xyz
convert --format parquet run - => 2 parquet cannot be written to standard output; name a file
  convert --format parquet run a.parquet
convert ambiguous.json a.csv => 2 could be qrels or a run; use --kind qrels or --kind run
  convert --kind qrels ambiguous.json a.csv && convert --kind run ambiguous.json b.csv
spans spans.csv chunks.csv => 0 ; lower min_overlap, or use characters, or of='chunk'
  spans --min-overlap 0.3 spans.csv chunks.csv && spans --characters 3 spans.csv chunks.csv &&
    spans --of chunk spans.csv chunks.csv
eval -m map lists.json lists.json
  1 ; if there are two, set --columns relevant=NAME,retrieved=NAME
  eval -m map --columns relevant=gold,retrieved=docs ragas.json ragas.json
fuse hats.csv hats.csv
  1 ; write another format, such as FILE.csv; `fastrank convert --number-queries` names queries by
    numbers
  fuse -o a.csv hats.csv hats.csv && convert --kind run --number-queries n.tsv hats.csv a.run
eval -m map rated.csv hats.csv
  1 ; `fastrank qrels merge FILE -o OUT.csv` chooses one of their grades
  qrels merge rated.csv -o a.csv && eval -m map a.csv hats.csv
fuse --format parquet run other => 2 parquet cannot be written to standard output; use -o FILE
  fuse --format parquet -o a.parquet run other
search -k 1 --corpus eye.npy --queries eye.npy --corpus-ids blank.npy -o a
  1 ; a search writes no other format: rename it, for example 'a_b'
  search -k 1 --corpus eye.npy --queries eye.npy --corpus-ids ids.txt -o a
search -k 1 --corpus eye.npy --queries eye.npy --tag 'my  run' -o a
  1 ; a search writes no other format: rename it, for example 'my_run'
  search -k 1 --corpus eye.npy --queries eye.npy --tag my_run -o a
gate check --update - qrels run => 2 standard input cannot be replaced; name a file
  gate save -m map -o base.json qrels run && gate check --update base.json qrels run
compare --values rows.csv two.csv => 2 ; choose some that all have with -m
  compare --values -m map rows.csv two.csv
compare --values means.csv => 1 `fastrank eval -q` writes values per query
  eval -q -m map --format csv -o a.csv qrels run other && compare --values a.csv
agree --systems a.csv --format xml a.csv => 2 invalid choice: 'xml' => measures
gate check damaged.json qrels run => 2 not a baseline; write one with `fastrank gate save`
  gate save -m map -o base.json qrels run && gate check base.json qrels run
check run other => 1 ; use --no-qrels if all files are runs => check --no-qrels run other
check qrels qrels => 1 ; qrels must be the first file => check qrels run
check qrels msmarco => 1 ; `fastrank convert` can convert it => convert --kind run msmarco.tsv a.run
check qrels comma => 1 ; use a point, not a comma, for decimals => check qrels run
check --strict qrels case => 1 ; did you mean 'q1' (qrels:1)? => check qrels run
""")
# Remedies that no call here can try, and why.
UNTRIED = {
    "choose an empty folder": "tests/core/formats/test_sites.py writes one",
    "name a folder (such as inspect/)": "tests/analysis/inspecting writes one",
    "use 'holm'": "the default",
    "`fastrank plan` writes it": "tests/analysis/judges/test_plans.py reads one",
    "install faiss-gpu": "no GPU",
    "use fewer --jobs": "a process has to be killed",
    "compare fewer systems": "takes too long",
    "use more resamples": "a note about resamples without variance",
    "convert it with `iconv": "a command of the system",
    "convert it (tr": "a command of the system",
    "save it as CSV UTF-8": "a program with spreadsheets",
    "pip install": "tests/test_extras.py installs",
    "`fastrank eval` reads datasets of ir_datasets": "ir_datasets is not installed",
    "compare with .*?": "the measures differ from plot to plot",
    "give one of ": "lists the values",
    "save a new one (`fastrank gate save`)": "a note",
}

VERBS = (
    "use|give|set|omit|rename|name|pass|add|try|install|choose|convert|save|restore|compare|select"
    "|read|see|repeat|scale|state|write"
)
# A clause of a message that tells what to do.
REMEDY = re.compile(
    rf"(?:[;:] |, or |\. |\()(?:or |for [^;,]+? )?(?:{VERBS}) |did you mean|pip install|`fastrank "
)
# Texts that are no messages.
HELP = (
    "Keyword",
    "Method",
    "add",
    "parser.add",
    "self.add",
    "_choice",
    "_family",
    "_option",
    "_record",
)


class Remedies(ast.NodeVisitor):
    """Collects, as regular expressions, the remedies in the strings of a module."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if ast.unparse(node.func) not in HELP:
            self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in ("help", "doc", "usage", "description", "epilog"):
            self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        parts = [one.value if isinstance(one, ast.Constant) else "\0" for one in node.values]
        self._add("".join(map(str, parts)))

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._add(node.value)

    def _add(self, text: str) -> None:
        clause = REMEDY.search(text)
        if clause and "\n" not in text:
            rest = text[clause.start() :].rstrip("\0 ")
            self.found.append(re.escape(rest).replace("\0", ".*?"))


def follow(calls: str) -> tuple[int, str]:
    """The exit status of the first command that fails, else of the last, and what they print."""
    printed = ""
    for call in calls.split(" && "):
        status, out, err = fastrank(call)
        printed += out + err
        if status:
            break
    return status, printed


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory, with the files that the calls read."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    np.save("eye.npy", VECTORS)
    np.save("blank.npy", ["a b", "d2", "d3", "d4"])


@pytest.mark.usefixtures("files")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "words", "remedy"), PYTHON)
def test_the_remedy_of_an_error_works(call, words, remedy):
    with pytest.raises((fr.FastrankError, TypeError)) as caught:
        eval(call)

    assert words in str(caught.value)
    eval(remedy)


@pytest.mark.usefixtures("files")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "words", "remedy"), COMMANDS)
def test_the_remedy_of_a_command_works(call, words, remedy):
    status, output = follow(call)

    expected, _, told = words.partition(" ")
    assert (status, told in output) == (int(expected), True)
    assert follow(remedy)[0] == 0


def test_every_remedy_in_the_sources_is_tried():
    """A new message with a remedy needs a row in one of the tables."""
    tried = "\n".join([words for _, words, _ in (*PYTHON, *COMMANDS)])
    missing = []
    for path in sorted((REPOSITORY / "fastrank").rglob("*.py")):
        # What went has a test of its own.
        if {"kernels", "native", "dropped.py"}.isdisjoint(path.relative_to(REPOSITORY).parts):
            remedies = Remedies()
            remedies.visit(ast.parse(path.read_text("utf-8")))
            missing += [
                f"{path.name}: {clause}"
                for clause in remedies.found
                if not re.search(clause, tried)
                and not any(known in clause.replace("\\", "") for known in UNTRIED)
            ]
    assert missing == []
