/* The command trec_eval without Python, for what is usual: two plain files, measures of plain
 * judgments, and nothing to complain about but queries without results. Everything else, whenever
 * it is met, is left to the command in Python, before a byte is written. All loops over lines,
 * documents and queries are the kernels; what they take, and all names, texts and sets, are in
 * declared.h, which header.py writes.
 *
 * Stated here and in Python:
 * - what options and variables mean (cli/trec_eval.py), and that only the first of several lists
 *   of cutoffs counts, in ascending order (core/measures/selection.py);
 * - that columns have an item for each line, judgment or query (core/formats/trec/reader.py,
 *   core/matching/files.py and judged.py, core/evaluation/values.py); kernels tell other sizes;
 * - what is averaged how (core/scores/summary.py), and printed (core/scores/columns.py). */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "declared.h"

#ifndef STATIC_BYTES /* A multiple of 64. */
#define STATIC_BYTES (8 << 20)
#endif
#ifdef __linux__
#include <sys/syscall.h>
/* fstat of glibc 2.33 and later is a symbol that older ones lack; the system call is in all. */
#define fstat(file, status) syscall(SYS_fstat, file, status)
#endif
#ifdef __APPLE__ /* Never tried. */
#include <mach-o/dyld.h>
#define st_mtim st_mtimespec
#endif

enum { LARGEST_FILE = 64 << 20, MOST_QUERIES_NOTED = 999, LONGEST_NOTED = 1000 };
enum { MOST_CUTOFFS = 64, CUTOFF_DIGITS = 9, LONGEST_NAME = 64, LONGEST_LABEL = 128 };
#define ITEMS(a) (sizeof(a) / sizeof *(a))
#define STATE(numbers) {&numbers, sizeof numbers / 8}

extern char **environ;

/* A measure that is asked for, with its own cutoffs, and its values per query and over all. */
struct asked { struct measure is; doubles values, summary; bytes texts; };
struct file { int handle; struct stat status; };
/* Judgments with the order of the queries by their ids. */
struct judgments { struct Qrels qrels; struct TextTable queries; integers order; };

static char **shell_words; /* Room for four, and the arguments as they came. */
static int per_query, complete, with_summary = 1;
static struct RankingOptions options = OPTIONS;
static int64_t collection_size = COLLECTION_SIZE;
static struct asked asked[ITEMS(MEASURES)];
static size_t count;

/* Leave everything to the command in Python, which the shell starts. */
static _Noreturn void leave(void) {
    static char path[PATH_MAX], link[PATH_MAX] = "/proc/self/exe";
#ifdef __APPLE__
    uint32_t room = sizeof link;
    _NSGetExecutablePath(link, &room);
#endif
    char *beginning[] = {"sh", "-c", LAUNCHER, realpath(link, path) ? path : "trec_eval"};
    memcpy(shell_words, beginning, sizeof beginning);
    execv("/bin/sh", shell_words);
    perror("trec_eval: /bin/sh");
    _exit(127);
}

static void leave_if(int unusual) {
    if (unusual)
        leave();
}

/* Zeroed memory, which is never freed. Pages of static memory cost nothing until they are touched;
 * calloc clears what is small itself. */
static void *zeros(int64_t items, size_t size) {
    static _Alignas(64) char memory[STATIC_BYTES];
    static size_t taken;
    if ((size_t)items > (sizeof memory - taken) / size) {
        void *more = calloc(items, size);
        leave_if(!more);
        return more;
    }
    size_t start = taken;
    taken += (items * size + 63) / 64 * 64;
    return memory + start;
}

static struct Spans new_spans(int64_t items) {
    return (struct Spans){new_integers(items), new_integers(items)};
}
static integers first(integers column, int64_t items) { return (integers){column.at, items}; }

static void check_environment(void) {
    static const char *const unusual[] = {"FASTRANK_", "NUMBA_", "POSIXLY_CORRECT", "PYTHONPATH="};
    for (char **variable = environ; *variable; variable++)
        for (size_t i = 0; i < ITEMS(unusual); i++)
            leave_if(!strncmp(*variable, unusual[i], strlen(unusual[i])));
    int mode = fcntl(1, F_GETFL);
    leave_if(fcntl(0, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0 || mode < 0 || mode & O_NONBLOCK ||
        fastrank_cpu_level() < CPU_LEVEL);
}

/* Cutoffs in ascending order; others are sorted or refused. */
static void set_cutoffs(struct measure *measure, const char *text) {
    doubles cutoffs = new_doubles(MOST_CUTOFFS);
    const char **labels = zeros(MOST_CUTOFFS, sizeof *labels);
    int64_t last = 0, n = 0;
    do {
        char name[LONGEST_NAME], *label = zeros(LONGEST_LABEL, 1);
        size_t digits = strspn(text, "0123456789");
        int64_t cutoff = strtol(text, NULL, 10);
        leave_if(digits > CUTOFF_DIGITS || (text[digits] && text[digits] != ',') ||
            cutoff <= last || n == MOST_CUTOFFS - 1);
        cutoffs.at[n] = last = cutoff;
        snprintf(name, sizeof name, "%s_%ld", measure->name, (long)cutoff);
        snprintf(label, LONGEST_LABEL, LABEL, name);
        labels[n++] = label;
        text += digits;
    } while (*text++);
    cutoffs.count = measure->width = measure->labels_count = n;
    measure->numbers = cutoffs;
    measure->labels = labels;
}

/* The measures of all -m, in the order of the table. */
static void choose_measures(const char *const *texts, int texts_count) {
    const char *parameters[ITEMS(MEASURES)] = {0};
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
        } else if (!parameters[m] || !*parameters[m]) {
            parameters[m] = point ? point + 1 : "";
        }
    }
    for (size_t m = 0; m < ITEMS(MEASURES); m++)
        if (parameters[m] || MEASURES[m].sets & sets) {
            asked[count].is = MEASURES[m];
            if (parameters[m] && *parameters[m])
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
    leave_if(words_count - optind != 2 || options.level < 0 || options.max_retrieved < 0);
    if (!measures_count)
        measures[measures_count++] = DEFAULT_SET;
    choose_measures(measures, measures_count);
}

static struct file open_file(const char *path) {
    struct file file;
    uint8_t head[16] = {0};
    leave_if(!strcmp(path, "-") || strstr(path, "://") ||
        (file.handle = open(path, O_RDONLY | O_CLOEXEC)) < 0 || fstat(file.handle, &file.status) ||
        !S_ISREG(file.status.st_mode) || file.status.st_size == 0 ||
        file.status.st_size > LARGEST_FILE || pread(file.handle, head, sizeof head, 0) <= 0);
    for (size_t i = 0; i < ITEMS(MAGICS); i++)
        leave_if(!memcmp(head, MAGICS[i].at, MAGICS[i].count));
    return file;
}

static void check_unchanged(struct file file) {
    struct stat now, was = file.status;
    leave_if(fstat(file.handle, &now) || now.st_size != was.st_size ||
        memcmp(&now.st_mtim, &was.st_mtim, sizeof now.st_mtim));
}

static struct judgments read_judgments(struct file file) {
    bytes text = new_bytes(file.status.st_size);
    leave_if(pread(file.handle, text.at, text.count, 0) != text.count);
    int64_t lines = count_lines(text);
    struct QrelsLines columns = {new_spans(lines), new_spans(lines), new_integers(lines)};
    struct Stretches stretches = {new_integers(lines), new_integers(lines),
                                  new_integers(lines + 1)};
    struct Reading_numbers state = {.refused = AS_C};
    scan_qrels(text, NO_COMMENTS, columns, (integers){0}, stretches, new_integers(BOUNDS),
               (struct Reading)STATE(state));
    int64_t queries = state.stretches, rows = state.rows;
    struct Texts names = {text, first(stretches.starts, queries),
                          first(stretches.lengths, queries)};
    struct Interning numbered = {new_integers(table_size(queries)), new_integers(queries),
                                 new_integers(queries)};
    /* Judgments of a query that stand in several places have to be gathered. */
    leave_if(state.status != DONE || intern_texts(names, numbered) != queries);
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
        .unknown = {{0}, {0}}};
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
    char *text = (char *)reader.text.at;
    for (;;) {
        int64_t wanted = size - cursor.file_position;
        wanted = wanted < room - waiting ? wanted : room - waiting;
        leave_if(pread(file.handle, text + waiting, wanted, cursor.file_position) != wanted);
        cursor.file_position += wanted;
        cursor.size = waiting + wanted;
        cursor.ended = cursor.file_position == size;
        int64_t done = stream_run(reader, judgments.queries, judgments.qrels, options, scratch,
                                  streamed, new_integers(3), (struct Reading)STATE(state));
        leave_if(state.status != DONE);
        leave_if(cursor.tag_size && !(*tag = strndup(text + cursor.tag, cursor.tag_size)));
        waiting = cursor.size - done;
        if (cursor.ended || waiting == room)
            return cursor.ended;
        memmove(text, text + done, waiting);
    }
}

static struct StreamedRankings judge_run(struct file file, struct judgments judgments, char **tag) {
    int64_t size = file.status.st_size, rows = judgments.qrels.grades.count;
    int64_t queries = judgments.order.count;
    /* Pages that are never touched cost nothing; small files get a smaller room all the same. */
    for (int64_t room = size < 4 * PIECE ? PIECE / 4 : PIECE;; room *= 4) {
        struct StreamedRankings streamed = {
            new_integers(rows), new_integers(rows), new_integers(rows), new_integers(rows),
            new_integers(queries), new_integers(queries), new_integers(queries),
            new_integers(queries), new_integers(queries)};
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
    leave_if(evaluated <= 0);
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
    assign_gains(rankings, (struct GradeGains){{0}, {0}}, 0, rescaled, table, gained);
    return gained;
}

static void compute(struct asked *own, struct Rankings rankings, struct GainedRankings gained) {
    const struct measure *measure = &own->is;
    int64_t queries = rankings.offsets.count - 1;
    own->values = new_doubles(queries * measure->width);
    own->texts = new_bytes(measure->of_texts ? queries * measure->width : 0);
    if (measure->of_rankings)
        measure->of_rankings(rankings, measure->numbers, own->values);
    if (measure->of_gains)
        measure->of_gains(gained, measure->numbers, own->values);
    if (measure->of_texts)
        measure->of_texts(rankings, (doubles){0}, own->texts);
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

/* The output. Once its first bytes are written, nothing can be left to Python any more. */
static char output[1 << 16];
static size_t used;

static void write_output(void) {
    for (size_t done = 0; done < used;) {
        ssize_t written = write(1, output + done, used - done);
        if (written < 0 && errno == EPIPE)
            _exit(BROKEN_PIPE);
        if (written < 0) {
            const char *reason = strerror(errno), *term = getenv("TERM"), *no = getenv("NO_COLOR");
            int colored = isatty(2) && !(no && *no) && !(term && !strcmp(term, "dumb"));
            dprintf(2, colored ? UNWRITABLE_COLORED : UNWRITABLE, reason);
            _exit(1);
        }
        done += written;
    }
    used = 0;
}

static void put_part(const char *text, size_t length) {
    for (size_t part; length; text += part, length -= part) {
        part = length < sizeof output - used ? length : sizeof output - used;
        memcpy(output + used, text, part);
        if ((used += part) == sizeof output)
            write_output();
    }
}

static void put(const char *text) { put_part(text, strlen(text)); }

static void put_digits(int64_t number, int decimals) {
    char text[32], *end = text + sizeof text, *at = end;
    for (; number || decimals >= 0; number /= 10) {
        if (decimals-- == 0 && at < end)
            *--at = '.';
        *--at = '0' + number % 10;
    }
    put_part(at, end - at);
}

/* A number as printf prints it, which takes longer: plain ones without printf. */
static void put_value(double value, enum average average) {
    double scaled = value * SCALE, below = floor(scaled), rest = scaled - below;
    int whole = average == SUM && fabs(value) < 1L << 53 && floor(value) == value;
    char text[400];
    if (signbit(value) || !(value < 1e6) || (!whole && fabs(rest - 0.5) < 1e-4))
        put_part(text, whole ? snprintf(text, sizeof text, COUNT_FORMAT, (long)value)
                             : snprintf(text, sizeof text, REAL_FORMAT, value));
    else
        put_digits(whole ? value : below + (rest > 0.5), whole ? 0 : DECIMALS);
}

static void print_text(const char *label, const char *query, size_t length, const char *quote,
                       const char *text, size_t size) {
    put(label);
    put_part(query, length);
    put("\t");
    put(quote);
    put_part(text, size);
    put(quote);
    put("\n");
}

static void print_values(const struct measure *measure, const double *values, const char *query,
                         size_t length) {
    for (int i = 0; i < measure->labels_count; i++) {
        put(measure->labels[i]);
        put_part(query, length);
        put("\t");
        put_value(values[i], measure->average);
        put("\n");
    }
}

static void print_query(int64_t q, const char *query, size_t length) {
    for (size_t m = 0; m < count; m++) {
        const struct measure *measure = &asked[m].is;
        int64_t at = q * measure->width;
        if (measure->of_texts) {
            const char *text = (char *)asked[m].texts.at + at;
            print_text(measure->labels[0], query, length, "'", text, strnlen(text, measure->width));
        } else if (measure->average != GEOMETRIC && (measure->of_rankings || measure->of_gains))
            print_values(measure, asked[m].values.at + at, query, length);
    }
}

static void print_summary(const char *tag) {
    for (size_t m = 0; m < count; m++)
        if (asked[m].is.average)
            print_values(&asked[m].is, asked[m].summary.at, "all", 3);
        else if (!asked[m].is.of_texts) /* runid */
            print_text(asked[m].is.labels[0], "all", 3, "", tag, strlen(tag));
}

/* The note on judged queries without results. Where it cannot be written, the results still are. */
static void note_missing(struct judgments judgments, struct StreamedRankings streamed,
                         int64_t missing) {
    struct Texts names = judgments.queries.texts;
    int64_t judged = judgments.order.count, named = 0;
    char text[sizeof NOTE_BEGINNING + 40];
    snprintf(text, sizeof text, NOTE_BEGINNING, (long)missing, (long)judged);
    put(text);
    leave_if(judged > MOST_QUERIES_NOTED); /* Their number has separators. */
    for (int64_t i = 0; i < judged && named < MOST_NAMED; i++) {
        int64_t query = judgments.order.at[i], length = names.lengths.at[query];
        const char *id = (char *)names.buffer.at + names.starts.at[query];
        if (streamed.first_listed.at[query])
            continue;
        for (int64_t j = 0; j < length; j++)
            leave_if(length > LONGEST_NOTED || id[j] <= ' ' || id[j] > '~'); /* Shown escaped. */
        put(named++ ? BETWEEN_NAMES : "");
        put_part(id, length);
    }
    put(missing > named ? MORE_NAMES : "");
    put(missing == 1 ? END_OF_ONE : END_OF_MANY);
    if (write(2, output, used) < 0)
        errno = 0;
    used = 0;
}

int main(int words_count, char **words) {
    if (!words_count || !(shell_words = calloc(words_count + 4, sizeof *shell_words)))
        return 3;
    memcpy(shell_words + 4, words + 1, (words_count - 1) * sizeof *words);
    check_environment();
    read_options(words_count, words);
    struct file qrels_file = open_file(words[optind]);
    struct judgments judgments = read_judgments(qrels_file);
    struct file run_file = open_file(words[optind + 1]);
    char *tag = "";
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

    signal(SIGPIPE, SIG_IGN);
    int64_t missing = judgments.order.count - queries.count;
    if (missing && !complete)
        note_missing(judgments, streamed, missing);
    struct Texts names = judgments.queries.texts;
    for (int64_t q = 0; per_query && q < queries.count; q++) {
        int64_t query = queries.at[q];
        print_query(q, (char *)names.buffer.at + names.starts.at[query], names.lengths.at[query]);
    }
    if (with_summary)
        print_summary(tag);
    write_output();
    _exit(0);
}
