/* The command trec_eval without Python, for what is usual: two plain files, measures of plain
 * judgments, and nothing to complain about but queries without results. Everything else, whenever
 * it is met, is left to the command in Python, before a byte is written. All loops over lines,
 * documents and queries are the kernels; what they take, and all names, texts and sets, are in
 * declared.h, which header.py writes.
 *
 * Stated here and in Python:
 * - what options and variables mean (cli/trec_eval.py), and that of several lists of cutoffs the
 *   first counts, in ascending order (core/measures/selection.py);
 * - that columns have an item for each line, judgment or query (core/formats/trec/reader.py,
 *   core/matching/files.py and judged.py, core/evaluation/values.py); other sizes kernels say;
 * - what is averaged how (core/scores/summary.py), and printed (core/scores/columns.py). */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "declared.h"

#ifdef __linux__
#include <sys/syscall.h>
/* The function of a new C library is another one than that of an old one. */
#define fstat(file, status) syscall(SYS_fstat, file, status)
#endif
#ifdef __APPLE__ /* Never tried. */
#include <mach-o/dyld.h>
#define st_mtim st_mtimespec
#endif

#ifdef FIRST_GLIBC
/* A program is bound to the start of the newest C library that it is linked with; this one to that
 * of the first, which all others have. */
typedef void function(void);
typedef int start(int (*)(), int, char **, function *, function *, function *, void *);
start first_start, __wrap___libc_start_main;
__asm__(".symver first_start, __libc_start_main@" FIRST_GLIBC);
int __wrap___libc_start_main(int (*program)(), int count, char **words, function *begin,
                             function *end, function *unload, void *stack) {
    return first_start(program, count, words, begin, end, unload, stack);
}
#endif

enum { LARGEST_FILE = 64 << 20, MOST_CUTOFFS = 64, CUTOFF_DIGITS = 9, MOST_QUERIES_NOTED = 999 };
#define ITEMS(a) (sizeof(a) / sizeof *(a))
#define STATE(numbers) {&numbers, sizeof numbers / 8}

extern char **environ;

/* A measure that is asked for, with its own cutoffs, and its values per query and over all. */
struct asked { struct measure is; doubles values, summary; bytes texts; };
struct file { int handle; struct stat status; };
/* With the order of the queries by their ids. */
struct judgments { struct Qrels qrels; struct TextTable queries; integers order; };

static char **shell_words; /* Room for four, and the arguments as they came. */
static int per_query, complete, with_summary = 1;
static struct RankingOptions options = OPTIONS;
static int64_t collection_size = COLLECTION_SIZE;
static struct asked asked[ITEMS(MEASURES)];
static size_t count;

/* Leave everything to the command in Python, which the shell starts. */
static _Noreturn void leave(void) {
    static char path[PATH_MAX], link[PATH_MAX];
#ifdef __APPLE__
    uint32_t room = sizeof link;
    int failed = _NSGetExecutablePath(link, &room) || !realpath(link, path);
#else
    int failed = readlink("/proc/self/exe", path, sizeof path - 1) < 0;
#endif
    (void)link;
    char *beginning[] = {"sh", "-c", LAUNCHER, failed ? (char *)"trec_eval" : path};
    memcpy(shell_words, beginning, sizeof beginning);
    execv("/bin/sh", shell_words);
    perror("trec_eval: /bin/sh");
    _exit(127);
}

/* Zeroed memory, which is never freed. */
static void *zeros(int64_t items, size_t size) {
    void *memory = calloc(items ? items : 1, size);
    if (!memory)
        leave();
    return memory;
}

static bytes new_bytes(int64_t items) { return (bytes){zeros(items, 1), items}; }
static shorts new_shorts(int64_t items) { return (shorts){zeros(items, 4), items}; }
static integers new_integers(int64_t items) { return (integers){zeros(items, 8), items}; }
static doubles new_doubles(int64_t items) { return (doubles){zeros(items, 8), items}; }
static struct Spans new_spans(int64_t items) {
    return (struct Spans){new_integers(items), new_integers(items)};
}
static integers first(integers column, int64_t items) { return (integers){column.at, items}; }

static void check_environment(void) {
    static const char *const unusual[] = {"FASTRANK_", "NUMBA_", "POSIXLY_CORRECT", "PYTHONPATH="};
    for (char **variable = environ; *variable; variable++)
        for (size_t i = 0; i < ITEMS(unusual); i++)
            if (!strncmp(*variable, unusual[i], strlen(unusual[i])))
                leave();
    int mode = fcntl(1, F_GETFL);
    if (fcntl(0, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0 || mode < 0 || mode & O_NONBLOCK ||
        fastrank_cpu_level() < CPU_LEVEL)
        leave();
}

static void set_cutoffs(struct measure *measure, const char *text) {
    doubles cutoffs = new_doubles(MOST_CUTOFFS);
    const char **names = zeros(MOST_CUTOFFS, sizeof *names);
    size_t n = 0, room = strlen(measure->name) + CUTOFF_DIGITS + 2;
    do {
        size_t i = n++, digits = strspn(text, "0123456789");
        if (i == MOST_CUTOFFS || !digits || digits > CUTOFF_DIGITS ||
            (text[digits] && text[digits] != ','))
            leave();
        double cutoff = strtol(text, NULL, 10);
        for (; i && cutoffs.at[i - 1] > cutoff; i--)
            cutoffs.at[i] = cutoffs.at[i - 1];
        cutoffs.at[i] = cutoff;
        text += digits;
    } while (*text++);
    for (size_t i = 0; i < n; i++) {
        char *name = zeros(room, 1);
        snprintf(name, room, "%s_%.0f", measure->name, cutoffs.at[i]);
        names[i] = name;
        if (cutoffs.at[i] == (i ? cutoffs.at[i - 1] : 0)) /* 0, or one twice. */
            leave();
    }
    cutoffs.count = measure->width = measure->names_count = n;
    measure->numbers = cutoffs;
    measure->names = names;
}

/* The measures of all -m, in the order of the table. */
static void choose_measures(const char *const *texts, int texts_count) {
    const char *parameters[ITEMS(MEASURES)] = {0};
    char named[ITEMS(MEASURES)] = {0};
    unsigned sets = 0;
    for (int i = 0; i < texts_count; i++) {
        size_t set = 0, m = 0, length = strcspn(texts[i], ".");
        const char *point = texts[i][length] ? texts[i] + length : NULL;
        while (set < ITEMS(SETS) && strcmp(SETS[set], texts[i]))
            set++;
        while (m < ITEMS(MEASURES) &&
               (strncmp(MEASURES[m].name, texts[i], length) || MEASURES[m].name[length]))
            m++;
        if (set < ITEMS(SETS)) {
            sets |= 1u << set;
        } else if (m == ITEMS(MEASURES) || (point && !(MEASURES[m].takes_cutoffs && point[1]))) {
            leave();
        } else {
            named[m] = 1;
            if (point && !parameters[m])
                parameters[m] = point + 1;
        }
    }
    for (size_t m = 0; m < ITEMS(MEASURES); m++)
        if (named[m] || MEASURES[m].sets & sets) {
            asked[count].is = MEASURES[m];
            if (parameters[m])
                set_cutoffs(&asked[count].is, parameters[m]);
            count++;
        }
}

static void read_options(int words_count, char **words) {
    const char **measures = zeros(words_count + 1, sizeof *measures);
    int measures_count = 0;
    opterr = 0;
    for (int letter; (letter = getopt(words_count, words, LETTERS)) != -1;)
        switch (letter) {
        case 'q': per_query = 1; break;
        case 'c': complete = 1; break;
        case 'n': with_summary = 0; break;
        case 'J': options.judged_only = 1; break;
        case 'm': measures[measures_count++] = optarg; break;
        case 'l': options.level = strtol(optarg, NULL, 10); break;
        case 'M': options.max_retrieved = strtol(optarg, NULL, 10); break;
        case 'N': collection_size = strtol(optarg, NULL, 10); break;
        default: leave();
        }
    if (words_count - optind != 2 || options.level < 0 || options.max_retrieved < 0)
        leave();
    if (!measures_count)
        measures[measures_count++] = DEFAULT_SET;
    choose_measures(measures, measures_count);
}

static struct file open_file(const char *path) {
    struct file file;
    uint8_t head[16] = {0};
    if (!strcmp(path, "-") || strstr(path, "://") ||
        (file.handle = open(path, O_RDONLY | O_CLOEXEC)) < 0 || fstat(file.handle, &file.status) ||
        !S_ISREG(file.status.st_mode) || file.status.st_size == 0 ||
        file.status.st_size > LARGEST_FILE || pread(file.handle, head, sizeof head, 0) <= 0)
        leave();
    for (size_t i = 0; i < ITEMS(MAGICS); i++)
        if (!memcmp(head, MAGICS[i].at, MAGICS[i].count))
            leave();
    return file;
}

static void check_unchanged(struct file file) {
    struct stat now, *before = &file.status;
    if (fstat(file.handle, &now) || now.st_size != before->st_size ||
        memcmp(&now.st_mtim, &before->st_mtim, sizeof now.st_mtim))
        leave();
}

static struct judgments read_judgments(struct file file) {
    bytes text = new_bytes(file.status.st_size);
    if (pread(file.handle, text.at, text.count, 0) != text.count)
        leave();
    int64_t lines = count_lines(text);
    struct QrelsLines columns = {new_spans(lines), new_spans(lines), new_integers(lines)};
    struct Stretches stretches = {new_integers(lines), new_integers(lines),
                                  new_integers(lines + 1)};
    struct Reading_numbers state = {.refused = AS_C};
    scan_qrels(text, NO_COMMENTS, columns, new_integers(0), stretches, new_integers(BOUNDS),
               (struct Reading)STATE(state));
    int64_t queries = state.stretches, rows = state.rows;
    struct Texts names = {text, first(stretches.starts, queries),
                          first(stretches.lengths, queries)};
    struct Interning numbered = {new_integers(table_size(queries)), new_integers(queries),
                                 new_integers(queries)};
    /* Judgments of a query that stand in several places have to be gathered. */
    if (state.status != DONE || intern_texts(names, numbered) != queries)
        leave();
    stretches.rows.at[queries] = rows;
    struct Texts docs = {text, first(columns.docs.starts, rows), first(columns.docs.lengths, rows)};
    integers order = new_integers(queries);
    order_texts(names, new_integers(queries), order, new_integers(queries));
    return (struct judgments){
        {docs, first(stretches.rows, queries + 1), first(columns.grades, rows)},
        {names, numbered.table},
        order};
}

static struct StreamScratch new_scratch(int64_t lines, int64_t most_judged) {
    struct JudgingSizes_numbers sizes = {0};
    judging_sizes(lines, most_judged, (struct JudgingSizes)STATE(sizes));
    integers clock = new_integers(1);
    clock.at[0] = 1;
    return (struct StreamScratch){
        .fields = {new_spans(lines), new_spans(lines)},
        .scores = new_doubles(lines),
        .ranks = new_integers(lines),
        .judging = {.table = new_integers(sizes.table), .judged_hashes = new_integers(most_judged),
                    .positions = new_integers(sizes.positions), .keys = new_doubles(lines),
                    .row_index = {new_shorts(sizes.slots), new_shorts(sizes.positions), clock},
                    .hashes = new_integers(lines), .rows = new_integers(lines)},
        .unknown = {new_bytes(0), new_integers(0)}};
}

/* Judge the run through a text of so many bytes at once; 0 if a query does not fit. */
static int judge(struct file file, int64_t room, struct judgments judgments,
                 struct StreamedRankings streamed, char **tag) {
    int64_t size = file.status.st_size, waiting = 0;
    struct Cursor_numbers cursor = {.file = file.handle, .file_stop = size};
    struct Reading_numbers state = {.refused = AS_C};
    struct LineReader reader = {
        new_bytes(room + SLACK),
        {new_bytes(MARK_BYTES), new_bytes(MARK_BYTES), new_integers(NEWLINE_PLACES),
         new_integers(BOUNDS)},
        STATE(cursor)};
    struct StreamScratch scratch = new_scratch(most_lines(room), widest(judgments.qrels.offsets));
    integers problem = new_integers(3);
    char *text = (char *)reader.text.at;
    for (;;) {
        int64_t left = size - cursor.file_position, free = room - waiting;
        int64_t wanted = free < left ? free : left;
        if (pread(file.handle, text + waiting, wanted, cursor.file_position) != wanted)
            leave();
        cursor.file_position += wanted;
        cursor.size = waiting + wanted;
        cursor.ended = cursor.file_position == size;
        int64_t done = stream_run(reader, judgments.queries, judgments.qrels, options, scratch,
                                  streamed, problem, (struct Reading)STATE(state));
        if (state.status != DONE)
            leave();
        if (cursor.tag_size && !(*tag = strndup(text + cursor.tag, cursor.tag_size)))
            leave();
        waiting = cursor.size - done;
        if (cursor.ended)
            return 1;
        if (waiting == room)
            return 0;
        memmove(text, text + done, waiting);
    }
}

static struct StreamedRankings judge_run(struct file file, struct judgments judgments, char **tag) {
    int64_t size = file.status.st_size, rows = judgments.qrels.grades.count;
    int64_t queries = judgments.order.count;
    for (int64_t room = PIECE;; room *= 4) {
        struct StreamedRankings streamed = {
            new_integers(rows), new_integers(rows), new_integers(rows), new_integers(rows),
            .first_listed = new_integers(queries), .listed_counts = new_integers(queries),
            .num_ret = new_integers(queries), .num_rel_ret = new_integers(queries),
            .tie_counts = new_integers(queries)};
        if (judge(file, room <= size ? room : size + 1, judgments, streamed, tag))
            return streamed;
    }
}

/* The rankings of the queries with results, whose places in the judgments become `queries`. */
static struct Rankings gather(struct judgments judgments, struct StreamedRankings streamed,
                              integers *queries) {
    int64_t most = judgments.order.count, rows = judgments.qrels.grades.count;
    integers found = new_integers(most);
    struct Rankings rankings = {
        new_integers(most + 1), new_integers(rows), new_integers(rows),
        new_integers(most + 1), new_integers(rows), new_integers(rows),
        .num_ret = new_integers(most), .num_rel = new_integers(most),
        .num_rel_ret = new_integers(most), .level = options.level,
        .collection_size = collection_size};
    struct Ties ties = {new_integers(most + 1), new_integers(rows), new_integers(rows)};
    int64_t evaluated = gather_judged(judgments.order, 1, streamed, judgments.qrels, options,
                                      found, (struct RankingsAndTies){rankings, ties});
    if (evaluated <= 0)
        leave();
    rankings.offsets.count = rankings.grade_offsets.count = evaluated + 1;
    *queries = first(found, evaluated);
    return rankings;
}

static struct GainedRankings new_gains(struct Rankings rankings, int rescaled) {
    int64_t queries = rankings.offsets.count - 1, listed = rankings.offsets.at[queries];
    int64_t distinct = rankings.grade_offsets.at[queries], room = rescaled ? distinct : 0;
    struct GainedRankings gained = {
        rankings.offsets, rankings.ranks, new_doubles(listed), new_integers(queries + 1),
        new_doubles(distinct), new_integers(distinct), rankings.num_ret, rankings.num_rel};
    struct GainTable table = {new_integers(room), new_doubles(room), new_integers(room),
                              new_integers(room), new_integers(room)};
    struct GradeGains own_gains = {new_integers(0), new_doubles(0)};
    assign_gains(rankings, own_gains, 0, rescaled, table, gained);
    return gained;
}

static void compute(struct asked *own, struct Rankings rankings, struct GainedRankings gained) {
    struct measure *measure = &own->is;
    int64_t queries = rankings.offsets.count - 1;
    if (measure->of_texts) /* How long they are. */
        measure->width = measure->numbers.at[0];
    own->values = new_doubles(queries * measure->width);
    own->texts = new_bytes(measure->of_texts ? queries * measure->width : 0);
    if (measure->of_rankings)
        measure->of_rankings(rankings, measure->numbers, own->values);
    if (measure->of_gains)
        measure->of_gains(gained, measure->numbers, own->values);
    if (measure->of_texts)
        measure->of_texts(rankings, new_doubles(0), own->texts);
}

static void summarize(struct asked *own, int64_t evaluated, struct Qrels qrels) {
    const struct measure *measure = &own->is;
    int64_t judged = qrels.offsets.count - 1, queries = complete ? judged : evaluated;
    doubles sums = own->summary = new_doubles(measure->width);
    add_up(own->values, measure->width, sums);
    for (int i = 0; i < measure->width; i++)
        if (measure->average == MEAN)
            sums.at[i] /= queries;
        else if (measure->average == GEOMETRIC)
            sums.at[i] = geometric_mean(sums.at[i], queries, queries - evaluated);
    if (!measure->of_rankings && !measure->of_gains)
        sums.at[0] = queries; /* num_q, which has no kernel. */
    if (measure->counts_positive && complete) {
        integers positive = new_integers(judged);
        count_positive(qrels.offsets, qrels.grades, positive);
        sums.at[0] = 0;
        for (int64_t q = 0; q < judged; q++)
            sums.at[0] += positive.at[q];
    }
}

static void print(FILE *out, const struct measure *measure, int i, int length, const char *query,
                  double value) {
    if (measure->average == SUM && fabs(value) < 1L << 53 && floor(value) == value)
        fprintf(out, COUNT_LINE, measure->names[i], length, query, (long)value);
    else
        fprintf(out, REAL_LINE, measure->names[i], length, query, value);
}

static void print_query(FILE *out, int64_t q, int length, const char *query) {
    for (size_t m = 0; m < count; m++) {
        const struct measure *measure = &asked[m].is;
        if (measure->of_texts) {
            const char *text = (char *)asked[m].texts.at + q * measure->width;
            int size = strnlen(text, measure->width);
            fprintf(out, QUOTED_LINE, measure->names[0], length, query, size, text);
        } else if (measure->average != GEOMETRIC && (measure->of_rankings || measure->of_gains))
            for (int i = 0; i < measure->names_count; i++)
                print(out, measure, i, length, query, asked[m].values.at[q * measure->width + i]);
    }
}

static void print_summary(FILE *out, const char *tag) {
    for (size_t m = 0; m < count; m++) {
        const struct measure *measure = &asked[m].is;
        if (measure->average)
            for (int i = 0; i < measure->names_count; i++)
                print(out, measure, i, 3, "all", asked[m].summary.at[i]);
        else if (!measure->of_texts) /* runid */
            fprintf(out, TEXT_LINE, measure->names[0], 3, "all", (int)strlen(tag), tag);
    }
}

/* Write the note on judged queries without results to memory. */
static void note_missing(FILE *out, struct judgments judgments, struct StreamedRankings streamed,
                         int64_t missing) {
    struct Texts names = judgments.queries.texts;
    int64_t judged = judgments.order.count, named = 0;
    if (judged > MOST_QUERIES_NOTED) /* Their number has separators. */
        leave();
    fprintf(out, NOTE_BEGINNING, (long)missing, (long)judged);
    for (int64_t i = 0; i < judged && named < MOST_NAMED; i++) {
        int64_t query = judgments.order.at[i], length = names.lengths.at[query];
        const char *id = (char *)names.buffer.at + names.starts.at[query];
        if (streamed.first_listed.at[query])
            continue;
        for (int64_t j = 0; j < length; j++)
            if (id[j] <= ' ' || id[j] > '~') /* Shown escaped. */
                leave();
        fprintf(out, "%s%.*s", named++ ? BETWEEN_NAMES : "", (int)length, id);
    }
    fputs(missing > named ? MORE_NAMES : "", out);
    fputs(missing == 1 ? END_OF_ONE : END_OF_MANY, out);
}

static void write_all(const char *output, size_t length) {
    for (ssize_t written; length; output += written, length -= written) {
        written = write(1, output, length);
        if (written >= 0)
            continue;
        if (errno == EPIPE)
            _exit(BROKEN_PIPE);
        const char *reason = strerror(errno), *term = getenv("TERM"), *plain = getenv("NO_COLOR");
        int colored = isatty(2) && !(plain && *plain) && !(term && !strcmp(term, "dumb"));
        dprintf(2, colored ? UNWRITABLE_COLORED : UNWRITABLE, reason);
        _exit(1);
    }
}

int main(int words_count, char **words) {
    if (!(shell_words = calloc(words_count + 4, sizeof *shell_words)))
        return 3;
    memcpy(shell_words + 4, words + 1, (words_count - 1) * sizeof *words);
    check_environment();
    read_options(words_count, words);

    struct file qrels_file = open_file(words[optind]);
    struct judgments judgments = read_judgments(qrels_file);
    struct file run_file = open_file(words[optind + 1]);
    char *tag = "", *note, *output;
    size_t note_length, length;
    struct StreamedRankings streamed = judge_run(run_file, judgments, &tag);
    check_unchanged(qrels_file);
    check_unchanged(run_file);
    integers queries;
    struct Rankings rankings = gather(judgments, streamed, &queries);
    struct GainedRankings gained[2] = {0};
    for (size_t m = 0; m < count; m++) {
        int rescaled = asked[m].is.rescaled;
        if (asked[m].is.of_gains && !gained[rescaled].ranks.at)
            gained[rescaled] = new_gains(rankings, rescaled);
        compute(&asked[m], rankings, gained[rescaled]);
        if (asked[m].is.average)
            summarize(&asked[m], queries.count, judgments.qrels);
    }

    FILE *notes = open_memstream(&note, &note_length), *out = open_memstream(&output, &length);
    int64_t missing = judgments.order.count - queries.count;
    if (!notes || !out)
        leave();
    if (missing && !complete)
        note_missing(notes, judgments, streamed, missing);
    struct Texts names = judgments.queries.texts;
    for (int64_t q = 0; per_query && q < queries.count; q++) {
        int64_t query = queries.at[q];
        print_query(out, q, names.lengths.at[query],
                    (char *)names.buffer.at + names.starts.at[query]);
    }
    if (with_summary)
        print_summary(out, tag);
    if (fclose(notes) || fclose(out))
        leave();
    signal(SIGPIPE, SIG_IGN);
    /* Where the note cannot be written, the results still are. */
    if (note_length && write(2, note, note_length) < 0)
        errno = 0;
    write_all(output, length);
    _exit(0);
}
