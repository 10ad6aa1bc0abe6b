"""Make the example data from scikit-learn's handwritten digits.

    python data/make_digits.py

This writes the files that README.md lists to this script's folder. It needs numpy and scikit-learn;
using the files needs neither.

The task is to find, for an image of a digit, the other images of that digit, and first of all those
on the same form. README.md explains where the images come from, what a form is, and what the grades
mean.

The files should have the same bytes on every machine. Each run therefore compares vectors of
integers, whose sums are exact in any order; the operations that follow (a square root, a division,
a rounding) are rounded correctly by IEEE 754. Scores are rounded to so few digits that different
scores of a query stay different in single precision, which trec_eval 9 uses.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

QUERIES_PER_DIGIT = 20
RUN_DEPTH = 100  # documents retrieved for a query
POOL_DEPTH = 50  # documents of each run that are judged even if they are not relevant
PCA_COMPONENTS = 4

# The first image of each form. All forms asked for the same 130 digits, so the labels repeat; see
# README.md.
FORM_STARTS = [0, 130, 256, 386, 516, 646, 776, 906, 1029, 1157, 1287, 1415, 1545, 1667]


def choose_queries(digits):
    """Indices of the queries: for each digit, images spread evenly over the collection."""
    chosen = []
    for digit in range(10):
        images = np.flatnonzero(digits == digit)
        chosen.extend(images[np.arange(QUERIES_PER_DIGIT) * len(images) // QUERIES_PER_DIGIT])
    return np.sort(chosen)


def squared_distances(a, b):
    """Squared Euclidean distance of each row of `a` to each row of `b`; both are integers."""
    return (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * (a @ b.T)


def score_pixels(queries, documents):
    """Cosine of the 64 pixels."""
    squared_norms = (queries * queries).sum(1)[:, None] * (documents * documents).sum(1)
    return np.round(queries @ documents.T / np.sqrt(squared_norms), 6)


def score_pca(queries, documents):
    """Minus the Euclidean distance in the first principal components of the documents."""
    sums = documents.sum(0)
    scatter = len(documents) * (documents.T @ documents) - np.outer(sums, sums)
    axes = np.linalg.eigh(scatter.astype(float))[1][:, -PCA_COMPONENTS:]
    # In steps of 1/256 the axes do not depend on the last bits of the linear algebra, and
    # the distances are those of integers.
    axes = np.rint(axes * 256).astype(np.int64)
    return -np.round(np.sqrt(squared_distances(queries @ axes, documents @ axes)) / 256, 4)


def score_profile(queries, documents):
    """Minus the city-block distance of the sums of the 8 rows and 8 columns of an image."""

    def profile(images):
        grid = images.reshape(-1, 8, 8)
        return np.hstack([grid.sum(2), grid.sum(1)])

    return -np.abs(profile(queries)[:, None] - profile(documents)).sum(2)


def rank(scores, depth):
    """Columns of the best scores of each row, in trec_eval's order: among equal scores, the
    document with the larger id comes first."""
    last_first = scores[:, ::-1]
    order = np.argsort(-last_first, axis=1, kind="stable")[:, :depth]
    return scores.shape[1] - 1 - order


def write_lines(path, lines):
    """Write lines of ASCII text, with the same line ends on every platform."""
    path.write_bytes("".join(f"{line}\n" for line in lines).encode("ascii"))


def main():
    """Write all files to the folder of this script."""
    folder = Path(__file__).resolve().parent
    data = load_digits()
    pixels = data.data.astype(np.int64)
    form = np.searchsorted(FORM_STARTS, np.arange(len(pixels)), side="right")

    queries = choose_queries(data.target)
    documents = np.setdiff1d(np.arange(len(pixels)), queries)

    for name, letter, images in (("queries", "q", queries), ("documents", "d", documents)):
        np.save(folder / f"{name}.npy", pixels[images].astype(np.float16))
        write_lines(folder / f"{name}.txt", [f"{letter}{image:04}" for image in images])

    pools = [set() for _ in queries]
    for tag, score in [("pixels", score_pixels), ("pca", score_pca), ("profile", score_profile)]:
        scores = score(pixels[queries], pixels[documents])
        lines = []
        for query, row, best, pool in zip(
            queries, scores, rank(scores, RUN_DEPTH), pools, strict=True
        ):
            pool.update(documents[best[:POOL_DEPTH]].tolist())
            for place, column in enumerate(best, start=1):
                value = row[column].item()  # its repr is the shortest text that restores it
                lines.append(f"q{query:04} Q0 d{documents[column]:04} {place} {value!r} {tag}")
        write_lines(folder / f"{tag}.run", lines)

    lines = []
    for query, pool in zip(queries, pools, strict=True):
        same_digit = data.target[documents] == data.target[query]
        grades = same_digit * (1 + (form[documents] == form[query]))
        for document, grade in zip(documents.tolist(), grades.tolist(), strict=True):
            if grade > 0 or document in pool:
                lines.append(f"q{query:04} 0 d{document:04} {grade}")
    write_lines(folder / "digits.qrels", lines)


if __name__ == "__main__":
    main()
