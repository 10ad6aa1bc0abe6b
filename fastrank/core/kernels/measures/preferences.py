"""Preference judgments: pairs of documents of which one should rank above the other.

Documents named in a query's judgments are numbered: the retrieved ones 0, 1, ... in rank order,
the others after them in the order of their ids. A pair is then fulfilled when the preferred
document has the smaller number and is retrieved.
"""

from __future__ import annotations

from fastrank.core.kernels.matching.texts import join, rank_documents
from fastrank.core.kernels.measures.signatures import PREFERENCES
from fastrank.core.kernels.texts.text import (
    are_equal,
    compare_texts,
    intern_range,
    sort_by,
    sort_texts,
)
from fastrank.core.native.codes import (
    CYCLE,
    RUN_REPEATS,
    SMALLER_ID_FIRST,
    TWO_LEVELS,
    ZERO_AND_NONZERO,
)
from fastrank.core.native.declare import helper, inlined, kernel
from fastrank.core.native.records import Texts


@kernel(
    "int64(Preferences, Run, Matched, RankingOptions, NumberingScratch, int64[::1], int64[::1],"
    " int64[::1])"
)
def number_documents(preferences, run, matched, options, scratch, numbers, sizes, problem):
    """numbers[row] = number of the document of a judgment; sizes = documents, retrieved ones.

    Stops at a query whose ranking repeats a document; returns how many queries were numbered
    before it.
    """
    judgments, rankings = matched
    judged_docs, offsets = preferences.docs, preferences.offsets
    ids, firsts, numbers_of = scratch.interning.ids, scratch.interning.firsts, scratch.numbers
    order, rows = scratch.ranking.order, scratch.ranking.merge
    docs = Texts(judged_docs.buffer, scratch.docs.starts, scratch.docs.lengths)
    for i in range(len(judgments)):
        first, stop = offsets[judgments[i]], offsets[judgments[i] + 1]
        documents = intern_range(judged_docs, first, stop, scratch.interning)
        for d in range(documents):
            docs.starts[d] = judged_docs.starts[first + firsts[d]]
            docs.lengths[d] = judged_docs.lengths[first + firsts[d]]
            numbers_of[d] = -1
        run_first = run.offsets[rankings[i]]
        retrieved = run.offsets[rankings[i] + 1] - run_first
        rank_documents(
            run.docs,
            run.scores,
            run_first,
            retrieved,
            options.single_precision != 0,
            SMALLER_ID_FIRST,
            scratch.ranking,
        )
        depth = min(retrieved, options.max_retrieved)
        problem[0] = join(
            docs,
            0,
            documents,
            run.docs,
            run_first,
            order,
            depth,
            scratch.interning.table,
            rows,
            problem,
        )
        if problem[0] == RUN_REPEATS:
            return i
        number = 0
        for r in range(depth):
            if rows[r] >= 0:
                numbers_of[rows[r]] = number
                number += 1
        sizes[2 * i] = documents
        sizes[2 * i + 1] = number
        sort_texts(docs, order, documents, rows)
        for d in range(documents):
            if numbers_of[order[d]] < 0:
                numbers_of[order[d]] = number
                number += 1
        for row in range(first, stop):
            numbers[row] = numbers_of[ids[row - first]]
    return len(judgments)


@inlined
def texts_of(preferences, spans):
    """The names of groups or subgroups."""
    return Texts(preferences.docs.buffer, spans.starts, spans.lengths)


@helper
def by_group_subgroup_level(a, b, data):
    """Groups and subgroups in byte order, then higher level first, then smaller number."""
    preferences, numbers = data
    sign = compare_texts(texts_of(preferences, preferences.groups), a, b)
    if sign == 0:
        sign = compare_texts(texts_of(preferences, preferences.subgroups), a, b)
    if sign != 0:
        return sign
    levels = preferences.levels
    if levels[a] > levels[b]:
        return -1
    if levels[a] < levels[b]:
        return 1
    return numbers[a] - numbers[b]


sort_lines = sort_by(by_group_subgroup_level)


@kernel(
    "int64(Preferences, int64[::1], int64[::1], int64[::1], PreferenceScratch, PreferenceCounts,"
    " int64[::1])"
)
def count_preferences(preferences, numbers, judgments, sizes, scratch, counts, problem):
    """Count the preferences of each judgment group, and over groups the agreement on each pair.

    Stops at the first query with a problem and returns its place.
    """
    offsets, levels = preferences.offsets, preferences.levels
    groups = texts_of(preferences, preferences.groups)
    subgroup_names = texts_of(preferences, preferences.subgroups)
    order = scratch.order
    g = 0
    for i in range(len(judgments)):
        first, stop = offsets[judgments[i]], offsets[judgments[i] + 1]
        documents, retrieved = sizes[2 * i], sizes[2 * i + 1]
        rows = stop - first
        for r in range(rows):
            order[r] = first + r
        sort_lines(order, rows, scratch.merge, (preferences, numbers))
        scratch.wins[: documents * documents] = 0
        begin = 0
        while begin < rows:
            end = begin + 1
            subgroups = 1
            while end < rows and are_equal(groups, order[begin], groups, order[end]):
                if not are_equal(subgroup_names, order[end - 1], subgroup_names, order[end]):
                    subgroups += 1
                end += 1
            lines = order[begin:end]
            tally = scratch.tally
            tally.relevant = tally.nonrelevant = tally.relevant_ret = tally.nonrelevant_ret = 0
            forget_pairs(tally)
            if subgroups == 1:
                lines = lines[: counted_lines(lines, levels)]
                problem[0] = count_classes(
                    lines, levels, numbers, documents, retrieved, scratch, tally, problem
                )
            else:
                problem[0] = count_closure(
                    lines, preferences, numbers, documents, retrieved, scratch, tally, problem
                )
            if problem[0] != 0:
                return i
            counts.possible_ret[g], counts.fulfilled_ret[g] = tally.ret, tally.ret_done
            counts.possible_imp[g], counts.fulfilled_imp[g] = tally.imp, tally.imp_done
            counts.absent[g] = tally.absent
            for only_retrieved in range(2):
                relevant = tally.relevant_ret if only_retrieved else tally.relevant
                surplus = relevant - (
                    tally.nonrelevant_ret if only_retrieved else tally.nonrelevant
                )
                if surplus >= 0:
                    fulfilled, possible = group_counts(counts, g, 0 if only_retrieved else 2)
                    # The missing documents count. The possible ones are counted by all relevant
                    # documents in both variants, as trec_eval does.
                    fulfilled += tally.relevant_ret * surplus
                    possible += tally.relevant * surplus
                else:
                    forget_pairs(tally)
                    if subgroups == 1:
                        balance_classes(lines, levels, numbers, retrieved, relevant, tally)
                    else:
                        balance_closure(documents, retrieved, scratch, tally)
                    fulfilled, possible = tally.ret_done, tally.ret
                    if not only_retrieved:
                        fulfilled += tally.imp_done
                        possible += tally.imp + tally.absent
                if only_retrieved:
                    counts.balanced_fulfilled_ret[g] = fulfilled
                    counts.balanced_possible_ret[g] = possible
                else:
                    counts.balanced_fulfilled[g] = fulfilled
                    counts.balanced_possible[g] = possible
            g += 1
            begin = end
        counts.group_offsets[i + 1] = g
        low, high = 3 * i, 3 * i + 3
        agree_on_pairs(
            scratch.wins,
            documents,
            retrieved,
            counts.pair_agreement[low:high],
            counts.pair_count[low:high],
        )
    return len(judgments)


@helper
def forget_pairs(tally):
    """Let no preference be counted yet."""
    tally.ret = tally.ret_done = tally.imp = tally.imp_done = tally.absent = 0


@helper
def count_pair(x, y, retrieved, tally):
    """Count one preference of document number x over y."""
    if x < retrieved and y < retrieved:
        tally.ret += 1
        if x < y:
            tally.ret_done += 1
    elif x < retrieved or y < retrieved:
        tally.imp += 1
        if x < retrieved:
            tally.imp_done += 1
    else:
        tally.absent += 1


@helper
def count_relevance(relevant, number, retrieved, tally):
    """Count one relevant or nonrelevant judgment of a group."""
    if relevant:
        tally.relevant += 1
        tally.relevant_ret += number < retrieved
    else:
        tally.nonrelevant += 1
        tally.nonrelevant_ret += number < retrieved


@helper
def count_classes(lines, levels, numbers, documents, retrieved, scratch, tally, problem):
    """A group without subgroups: every line is preferred to all lines of lower level."""
    level_of, state_of = scratch.levels, scratch.states
    for line in lines:
        state_of[numbers[line]] = 0
    for line in lines:
        number = numbers[line]
        if state_of[number] == 1 and level_of[number] != levels[line]:
            problem[1] = line
            return TWO_LEVELS
        state_of[number] = 1
        level_of[number] = levels[line]
    for a in range(len(lines)):
        x, level = numbers[lines[a]], levels[lines[a]]
        count_relevance(level > 0.0, x, retrieved, tally)
        for b in range(a + 1, len(lines)):
            if levels[lines[b]] < level:
                y = numbers[lines[b]]
                count_pair(x, y, retrieved, tally)
                scratch.wins[x * documents + y] += 1
    return 0


@helper
def counted_lines(lines, levels):
    """How many lines of a group without subgroups count.

    trec_eval starts counting classes at a level of -3. Where the first class has that level it is
    one class short, and leaves out the last.
    """
    count = len(lines)
    if levels[lines[0]] == -3.0:
        lowest = levels[lines[count - 1]]
        while count > 0 and levels[lines[count - 1]] == lowest:
            count -= 1
    return count


@helper
def count_closure(lines, preferences, numbers, documents, retrieved, scratch, tally, problem):
    """A group with subgroups: the transitive closure of the preferences within subgroups."""
    levels, names = preferences.levels, texts_of(preferences, preferences.subgroups)
    prefers, level_of, state_of = scratch.prefers, scratch.levels, scratch.states
    prefers[: documents * documents] = 0
    state_of[:documents] = 0
    for a in range(len(lines)):
        x, level = numbers[lines[a]], levels[lines[a]]
        lowest, highest = min(level_of[x], level), max(level_of[x], level)
        if state_of[x] and lowest == 0.0 and highest > 0.0:
            problem[1] = lines[a]
            return ZERO_AND_NONZERO
        state_of[x] = 1
        level_of[x] = level
        for b in range(a + 1, len(lines)):
            if not are_equal(names, lines[a], names, lines[b]):
                break
            if levels[lines[b]] < level:
                prefers[x * documents + numbers[lines[b]]] = 1
    for via in range(documents):
        for x in range(documents):
            if prefers[x * documents + via]:
                for y in range(documents):
                    prefers[x * documents + y] |= prefers[via * documents + y]
    for x in range(documents):
        prefers[x * documents + x] = 0
        if state_of[x] and level_of[x] >= 0.0:
            count_relevance(level_of[x] > 0.0, x, retrieved, tally)
    for x in range(documents):
        for y in range(documents):
            if prefers[x * documents + y]:
                if prefers[y * documents + x]:
                    problem[1] = lines[0]
                    return CYCLE
                count_pair(x, y, retrieved, tally)
                scratch.wins[x * documents + y] += 1
    return 0


@helper
def balance_classes(lines, levels, numbers, retrieved, relevant, tally):
    """Rnonrel without subgroups: only as many documents of the last class as are relevant.

    The last class is also set against its own first members, as in trec_eval.
    """
    last = len(lines) - 1
    while last > 0 and levels[lines[last - 1]] == levels[lines[len(lines) - 1]]:
        last -= 1
    for a in range(len(lines)):
        for b in range(min(len(lines), last + relevant)):
            if b >= last or levels[lines[b]] < levels[lines[a]]:
                count_pair(numbers[lines[a]], numbers[lines[b]], retrieved, tally)


@helper
def balance_closure(documents, retrieved, scratch, tally):
    """Rnonrel with subgroups: nonrelevant documents beyond the number of relevant ones drop out."""
    prefers, level_of, state_of = scratch.prefers, scratch.levels, scratch.states
    nonrelevant = 0
    for number in range(documents):
        if state_of[number] and level_of[number] == 0.0:
            nonrelevant += 1
            if nonrelevant > tally.relevant:
                state_of[number] = 2
    for x in range(documents):
        for y in range(documents):
            if prefers[x * documents + y] and state_of[x] != 2 and state_of[y] != 2:
                count_pair(x, y, retrieved, tally)


@helper
def agree_on_pairs(wins, documents, retrieved, agreement, count):
    """Mean agreement's sum and number of pairs: both retrieved, at least one, all."""
    total, pairs = 0.0, 0
    for scope in range(3):
        stop = documents if scope == 2 else retrieved
        for x in range(retrieved if scope == 2 else 0, stop):
            for y in range(retrieved if scope == 1 else x + 1, documents if scope else retrieved):
                both = wins[x * documents + y] + wins[y * documents + x]
                if both:
                    # Of two that are not retrieved, the ranking prefers neither.
                    total += wins[x * documents + y] / both if scope < 2 else 0.0
                    pairs += 1
        agreement[scope], count[scope] = total, pairs


@helper
def share(part, whole):
    return part / whole if whole else 0.0


@helper
def group_counts(q, g, scope):
    """Fulfilled and possible preferences of group g: 0 both retrieved, 1 at least one, 2 all."""
    fulfilled, possible = q.fulfilled_ret[g], q.possible_ret[g]
    if scope >= 1:
        fulfilled += q.fulfilled_imp[g]
        possible += q.possible_imp[g]
    if scope == 2:
        possible += q.absent[g]
    return fulfilled, possible


@helper
def counts_of(q, scope):
    """Fulfilled and possible preferences of all groups."""
    fulfilled, possible = 0, 0
    for g in range(len(q.absent)):
        group_fulfilled, group_possible = group_counts(q, g, scope)
        fulfilled += group_fulfilled
        possible += group_possible
    return fulfilled, possible


@kernel(PREFERENCES)
def preferences_counted(q, parameters, values):
    """parameters: a scope as in `group_counts`, and 1 for possible preferences, not fulfilled."""
    fulfilled, possible = counts_of(q, parameters[0])
    values[0] = possible if parameters[1] else fulfilled


@kernel(PREFERENCES)
def preferences_simple(q, scope, values):
    """Fulfilled preferences over possible ones; scope[0] as in `group_counts`."""
    fulfilled, possible = counts_of(q, scope[0])
    values[0] = share(fulfilled, possible)


@kernel(PREFERENCES)
def preferences_by_pair(q, scope, values):
    """The mean over pairs of documents of the share of preferences the ranking agrees with."""
    i = int(scope[0])
    values[0] = share(q.pair_agreement[i], q.pair_count[i])


@kernel(PREFERENCES)
def preferences_by_group(q, scope, values):
    """The mean over judgment groups of the share of fulfilled preferences."""
    total = 0.0
    for g in range(len(q.absent)):
        fulfilled, possible = group_counts(q, g, scope[0])
        total += share(fulfilled, possible)
    values[0] = total / len(q.absent)


@kernel(PREFERENCES)
def preferences_balanced(q, only_retrieved, values):
    """prefs_avgjg_Rnonrel: the mean over groups with as many nonrelevant as relevant documents."""
    fulfilled, possible = q.balanced_fulfilled, q.balanced_possible
    if only_retrieved[0] != 0.0:
        fulfilled, possible = q.balanced_fulfilled_ret, q.balanced_possible_ret
    total = 0.0
    for g in range(len(q.absent)):
        total += fulfilled[g] / possible[g]
    if total > 0.0:
        values[0] = total / len(q.absent)
