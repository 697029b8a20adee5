/* How many elements the matching blocks of Python's difflib hold.

   The search is that of difflib.SequenceMatcher (docs.python.org/3/library/difflib.html): the longest block that two
   ranges have in common, the earliest in a and then in b, grown at both ends; the same left of it and right of it.
   Elements that make up more than 1 % of a b of 200 or more may be told to start no block ("autojunk"); blocks still
   grow over them, and an empty block grows to the right from where the ranges begin. No Python header is needed. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t a, a_end, b, b_end;
} Ranges;

typedef struct {
    int64_t a, b, size;
} Block;

typedef struct {
    const uint32_t *a, *b;
    int64_t *kind;      /* of each element of a: which of the kinds in b that may start a block, or -1 */
    int64_t *next;      /* the first i from here on whose kind is not -1; one more at the end */
    int64_t *first;     /* of each kind: where its places begin; one more at the end */
    int64_t *places;    /* in b, ascending within a kind */
    int64_t *length[2]; /* of the block that ends at each place of b, in an even and in an odd row */
    int64_t *row[2];    /* the row in which that was written */
    int64_t rows;       /* rows so far: no two are the same */
} Search;

static int64_t slot_of(const uint32_t *values, const int64_t *kinds, int64_t mask, uint32_t value) {
    int64_t slot = (int64_t)((value * 2654435769u) ^ (value >> 15)) & mask;
    while (kinds[slot] >= 0 && values[slot] != value) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Fills kind, next, first and places. 0 when memory runs out. */
static int index_elements(Search *search, int64_t n, int64_t m, int autojunk) {
    int64_t size = 16;
    while (size < 2 * m) {
        size *= 2;
    }
    int64_t most = autojunk && m >= 200 ? m / 100 + 1 : m;
    int64_t known = 0;
    uint32_t *values = malloc(size * sizeof *values);
    int64_t *kinds = malloc(size * sizeof *kinds);
    int64_t *of_b = malloc(m * sizeof *of_b);
    int64_t *count = calloc(m, sizeof *count);
    int done = values && kinds && of_b && count;
    if (done) {
        for (int64_t slot = 0; slot < size; slot++) {
            kinds[slot] = -1;
        }
        for (int64_t j = 0; j < m; j++) {
            int64_t slot = slot_of(values, kinds, size - 1, search->b[j]);
            if (kinds[slot] < 0) {
                kinds[slot] = known++;
                values[slot] = search->b[j];
            }
            of_b[j] = kinds[slot];
            count[of_b[j]]++;
        }
        search->first[0] = 0;
        for (int64_t k = 0; k < known; k++) {
            search->first[k + 1] = search->first[k] + (count[k] > most ? 0 : count[k]);
            count[k] = search->first[k + 1] - search->first[k];
        }
        for (int64_t j = m - 1; j >= 0; j--) {
            if (count[of_b[j]] > 0) {
                search->places[search->first[of_b[j]] + --count[of_b[j]]] = j;
            }
        }
        search->next[n] = n;
        for (int64_t i = n - 1; i >= 0; i--) {
            int64_t k = kinds[slot_of(values, kinds, size - 1, search->a[i])];
            search->kind[i] = k >= 0 && search->first[k] < search->first[k + 1] ? k : -1;
            search->next[i] = search->kind[i] >= 0 ? i : search->next[i + 1];
        }
    }
    free(values);
    free(kinds);
    free(of_b);
    free(count);
    return done;
}

static Block longest(Search *search, Ranges in) {
    Block best = {in.a, in.b, 0};
    const int64_t *first = search->first, *places = search->places;
    int64_t base = search->rows + 1 - in.a;
    search->rows += in.a_end - in.a + 1;
    for (int64_t i = search->next[in.a]; i < in.a_end; i = search->next[i + 1]) {
        int64_t row = base + i, *length = search->length[row & 1], *written = search->row[row & 1];
        const int64_t *above = search->length[~row & 1], *written_above = search->row[~row & 1];
        int64_t p = first[search->kind[i]], end = first[search->kind[i] + 1];
        while (p < end && places[p] < in.b) {
            p++;
        }
        for (; p < end && places[p] < in.b_end; p++) {
            int64_t j = places[p];
            length[j] = 1 + (j > in.b && written_above[j - 1] == row - 1 ? above[j - 1] : 0);
            written[j] = row;
            if (length[j] > best.size) {
                best.size = length[j];
                best.a = i - best.size + 1;
                best.b = j - best.size + 1;
            }
        }
    }
    while (best.a > in.a && best.b > in.b && search->a[best.a - 1] == search->b[best.b - 1]) {
        best.a--;
        best.b--;
        best.size++;
    }
    while (best.a + best.size < in.a_end && best.b + best.size < in.b_end &&
           search->a[best.a + best.size] == search->b[best.b + best.size]) {
        best.size++;
    }
    return best;
}

static int64_t total(Search *search, int64_t n, int64_t m) {
    int64_t sum = 0, waiting = 1, room = 64;
    Ranges *stack = malloc(room * sizeof *stack);
    if (!stack) {
        return -1;
    }
    stack[0] = (Ranges){0, n, 0, m};
    while (waiting > 0) {
        Ranges in = stack[--waiting];
        Block found = longest(search, in);
        if (found.size == 0) {
            continue;
        }
        sum += found.size;
        if (waiting + 2 > room) {
            Ranges *larger = realloc(stack, 2 * room * sizeof *stack);
            if (!larger) {
                sum = -1;
                break;
            }
            stack = larger;
            room *= 2;
        }
        if (in.a < found.a && in.b < found.b) {
            stack[waiting++] = (Ranges){in.a, found.a, in.b, found.b};
        }
        if (found.a + found.size < in.a_end && found.b + found.size < in.b_end) {
            stack[waiting++] = (Ranges){found.a + found.size, in.a_end, found.b + found.size, in.b_end};
        }
    }
    free(stack);
    return sum;
}

/* Elements of all matching blocks of a (n of them) and b (m of them); -1 when memory runs out. */
int64_t strop_matching_elements(const uint32_t *a, int64_t n, const uint32_t *b, int64_t m, int autojunk) {
    if (n == 0 || m == 0) {
        return 0;
    }
    Search search = {.a = a, .b = b, .rows = 1};
    search.kind = malloc(n * sizeof *search.kind);
    search.next = malloc((n + 1) * sizeof *search.next);
    search.first = malloc((m + 1) * sizeof *search.first);
    search.places = malloc(m * sizeof *search.places);
    search.length[0] = malloc(m * sizeof *search.length[0]);
    search.length[1] = malloc(m * sizeof *search.length[1]);
    search.row[0] = calloc(m, sizeof *search.row[0]);
    search.row[1] = calloc(m, sizeof *search.row[1]);
    int64_t sum = -1;
    if (search.kind && search.next && search.first && search.places && search.length[0] && search.length[1] &&
        search.row[0] && search.row[1] && index_elements(&search, n, m, autojunk)) {
        sum = total(&search, n, m);
    }
    free(search.kind);
    free(search.next);
    free(search.first);
    free(search.places);
    free(search.length[0]);
    free(search.length[1]);
    free(search.row[0]);
    free(search.row[1]);
    return sum;
}

typedef struct {
    const uint32_t *text;
    int64_t size;
    uint64_t hash;
} Line;

static int ends_line(uint32_t c) {
    if (c - 0x1fu < 0x85u - 0x1fu) { /* nearly all of them */
        return 0;
    }
    return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

/* Fills lines as str.splitlines splits; their number. */
static int64_t split(const uint32_t *text, int64_t n, Line *lines) {
    int64_t count = 0;
    for (int64_t at = 0; at < n; at++) {
        int64_t begin = at;
        uint64_t hash = 0;
        for (; at < n && !ends_line(text[at]); at++) {
            hash = (hash << 5 | hash >> 59) + text[at];
        }
        hash *= 11400714819323198485u;
        lines[count++] = (Line){text + begin, at - begin, hash ^ hash >> 32};
        if (at + 1 < n && text[at] == '\r' && text[at + 1] == '\n') {
            at++;
        }
    }
    return count;
}

/* Gives equal lines equal numbers, in the order in which they first stand. 0 when memory runs out. */
static int number_lines(const Line *lines, int64_t count, uint32_t *numbers) {
    int64_t size = 16;
    while (size < 2 * count) {
        size *= 2;
    }
    int64_t *known = calloc(size, sizeof *known); /* 1 + the first of the equal lines; 0: free */
    if (!known) {
        return 0;
    }
    uint32_t fresh = 0;
    for (int64_t at = 0; at < count; at++) {
        int64_t slot = (int64_t)(lines[at].hash & (uint64_t)(size - 1));
        while (known[slot]) {
            const Line *other = &lines[known[slot] - 1];
            if (other->hash == lines[at].hash && other->size == lines[at].size &&
                memcmp(other->text, lines[at].text, other->size * sizeof *other->text) == 0) {
                break;
            }
            slot = (slot + 1) & (size - 1);
        }
        if (!known[slot]) {
            known[slot] = at + 1;
            numbers[at] = fresh++;
        } else {
            numbers[at] = numbers[known[slot] - 1];
        }
    }
    free(known);
    return 1;
}

/* The same by lines of two texts; counts[0] and counts[1] become their numbers of lines. */
int64_t strop_matching_lines(const uint32_t *a, int64_t n, const uint32_t *b, int64_t m, int autojunk, int64_t *counts) {
    int64_t sum = -1;
    Line *lines = malloc((n + m + 1) * sizeof *lines);
    uint32_t *numbers = malloc((n + m + 1) * sizeof *numbers);
    if (lines && numbers) {
        counts[0] = split(a, n, lines);
        counts[1] = split(b, m, lines + counts[0]);
        if (number_lines(lines, counts[0] + counts[1], numbers)) {
            sum = strop_matching_elements(numbers, counts[0], numbers + counts[0], counts[1], autojunk);
        }
    }
    free(lines);
    free(numbers);
    return sum;
}
