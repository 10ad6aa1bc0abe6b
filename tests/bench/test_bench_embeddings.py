"""The benchmark of embeddings runs, and notices a wrong answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench import embeddings


@pytest.fixture
def case() -> embeddings.Case:
    return embeddings.Case(rows=300, dimension=8, queries=12, k=20, batch_size=5)


def test_all_subjects_give_the_right_answer(
    case: embeddings.Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others where they are installed."""
    lines: list[str] = []

    assert embeddings.measure(case, 1, lines.append)

    text = "\n".join(lines)
    assert "search / faiss: " in text
    assert "evaluation / faiss: " in text
    assert "correct: False" not in text


def test_a_wrong_answer_is_shown(case: embeddings.Case, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_: embeddings.Case) -> Callable[[], dict[str, Any]]:
        return lambda: {"ndcg_cut_10": 0.5}

    monkeypatch.setattr(embeddings, "PEERS", {"fastrank": wrong, "nowhere": wrong})
    lines: list[str] = []

    assert not embeddings.measure(case, 1, lines.append)

    assert any(line.startswith("fastrank ") and "correct: False" in line for line in lines)
    assert "nowhere: not installed" in lines


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells the peak of memory")
def test_memory_does_not_grow_with_the_file() -> None:
    """64 MB of blocks are read of a file of 128 MB."""
    before, after, size = embeddings.measure_memory(250_000, 128, 5, 10)

    assert size > 127
    assert 0 < after - before < 115
