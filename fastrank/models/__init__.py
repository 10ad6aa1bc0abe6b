"""Embedding models: the texts of a data set into vectors, and these into scores."""

from __future__ import annotations

from fastrank.models.embedding import Embeddings as Embeddings
from fastrank.models.embedding import embed_dataset as embed_dataset
from fastrank.models.evaluation import evaluate_model as evaluate_model
