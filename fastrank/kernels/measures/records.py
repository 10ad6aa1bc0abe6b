"""What a measure sees of one query: the records that the kernels of measures take."""

from __future__ import annotations

from fastrank.native.declare import record

# ranks, grades: the listed documents, best first; rank starts at 1; grade is the integer of the
#   qrels, -2 for any negative one, -1 for a document outside the qrels (see
# kernels/judging/memory.py). grade_values, grade_counts: the distinct grades >= 0 of the query's
# judgments, ascending. num_ret, num_rel, num_rel_ret: retrieved, relevant and relevant retrieved
# documents. level: the lowest grade that counts as relevant. collection_size: documents in the
# collection.
Ranking = record(
    "Ranking",
    rows={
        "offsets": {"ranks": "int64", "grades": "int64"},
        "grade_offsets": {"grade_values": "int64", "grade_counts": "int64"},
    },
    each={"num_ret": "int64", "num_rel": "int64", "num_rel_ret": "int64"},
    shared={"level": "int64", "collection_size": "int64"},
)

# lows, highs, grades: the listed documents by tie group: those at ranks lows + 1 to highs have
#   equal scores, in any order.
Tied = record(
    "Tied",
    rows={"offsets": {"lows": "int64", "highs": "int64", "grades": "int64"}},
    each={"num_ret": "int64", "num_rel": "int64"},
    shared={"level": "int64"},
)

# The same with what finding the documents is worth; the rest as in Gained.
TiedGains = record(
    "TiedGains",
    rows={
        "offsets": {"lows": "int64", "highs": "int64", "gains": "float64"},
        "ideal_offsets": {"ideal_gains": "float64", "ideal_counts": "int64"},
    },
    each={"num_ret": "int64"},
    shared={},
)

# ranks, gains: the listed documents and what finding them is worth.
# ideal_gains, ideal_counts: the best possible ranking, as runs of equal gain, best first.
Gained = record(
    "Gained",
    rows={
        "offsets": {"ranks": "int64", "gains": "float64"},
        "ideal_offsets": {"ideal_gains": "float64", "ideal_counts": "int64"},
    },
    each={"num_ret": "int64", "num_rel": "int64"},
    shared={},
)

# One item per judgment group. Of the preferences of the group: possible_ret have both documents
# retrieved, possible_imp exactly one, absent none; fulfilled_* those the ranking agrees with.
# balanced*: the preferences with as many nonrelevant as relevant documents (Rnonrel).
# pairs_*: over all groups, the summed agreement on unordered pairs and how many pairs there are,
#   in three scopes: both documents retrieved, at least one, all.
Preferences = record(
    "Preferences",
    rows={
        "group_offsets": {
            "possible_ret": "int64",
            "fulfilled_ret": "int64",
            "possible_imp": "int64",
            "fulfilled_imp": "int64",
            "absent": "int64",
            "balanced_fulfilled": "float64",
            "balanced_possible": "float64",
            "balanced_fulfilled_ret": "float64",
            "balanced_possible_ret": "float64",
        },
        "pair_offsets": {"pair_agreement": "float64", "pair_count": "int64"},
    },
    each={},
    shared={},
)
