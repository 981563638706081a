/* Internal support shared by the compiler library: allocation, arena, strings.
 *
 * Every allocation of the compiler library goes through tp__malloc and related functions, so that
 * one test hook can make any of them fail. A failed allocation returns NULL, and the caller
 * converts it into TP_NO_MEMORY; nothing here aborts.
 *
 * Thread rule: the hook is per thread; an arena or a string belongs to one thread at a time. */
#ifndef TP_LIB_SUPPORT_SUPPORT_H
#define TP_LIB_SUPPORT_SUPPORT_H

#include "tp/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TP__PRINTF(string_at, first) __attribute__((format(printf, string_at, first)))
#else
#define TP__PRINTF(string_at, first)
#endif

#define TP__COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- allocation ---- */

/* malloc and related functions. A size of 0 counts as 1, so NULL always means failure. */
void *tp__malloc(size_t size);
/* Zeroed. NULL also if n * size overflows. */
void *tp__calloc(size_t n, size_t size);
/* Resizes to n items of `size`. NULL also if n * size overflows; on failure `old` stays valid, as
 * with realloc. */
void *tp__realloc(void *old, size_t n, size_t size);
/* Copies a string. */
char *tp__strdup(const char *text);
void tp__free(void *memory);

/* True if an allocation of this thread has failed since tp__alloc_forget_failure. */
bool tp__alloc_failed(void);
void tp__alloc_forget_failure(void);

/* Test hook of this thread: allocation k from now (k >= 1) and the n - 1 after it fail. k = 0
 * disables the hook. Those of arenas and of the solver's pools count too. */
void tp__alloc_fail(int64_t k, int64_t n);
/* Counts an allocation. True if it must fail. */
bool tp__alloc_fails(void);
/* Returns the number of allocations that this thread has requested since tp__alloc_fail. */
int64_t tp__alloc_count(void);
/* Returns the number of blocks that this thread has allocated, minus those it has freed. */
int64_t tp__alloc_live(void);

/* Grows *items (capacity *capacity, item size `size`) so that `needed` items fit. At least doubles
 * the capacity. */
tp_status tp__grow(void **items, size_t *capacity, size_t needed, size_t size);

/* ---- arena ---- */

/* A bump allocator: all allocations of one pass run or one cache are freed at once. A zeroed struct
 * is a valid empty arena. */
typedef struct tp__arena_block tp__arena_block;
typedef struct tp__arena {
  tp__arena_block *blocks; /* newest first */
  size_t used;             /* bytes used in the newest block */
} tp__arena;

/* Returns zeroed memory, aligned for any type, valid until tp__arena_destroy. NULL if memory runs
 * out. */
void *tp__arena_alloc(tp__arena *arena, size_t size);
/* Returns n items of `size`. NULL also if n * size overflows. */
void *tp__arena_array(tp__arena *arena, size_t n, size_t size);
/* Copy a string, or `length` bytes with a terminating zero. */
char *tp__arena_strdup(tp__arena *arena, const char *text);
char *tp__arena_strndup(tp__arena *arena, const char *text, size_t length);
char *tp__arena_printf(tp__arena *arena, const char *format, ...) TP__PRINTF(2, 3);
/* Frees everything. The arena is then empty and usable. */
void tp__arena_destroy(tp__arena *arena);

/* ---- strings ---- */

/* A growing string. A zeroed struct is a valid empty string. Failure is sticky: after a failed
 * allocation, appends do nothing. `failed`, the status of any append, or take reports it, so a
 * sequence of appends needs one check. */
typedef struct tp__string {
  char *text; /* owned, zero-terminated; NULL until the first append (use tp__string_text) */
  size_t length;
  size_t capacity;
  bool failed;
} tp__string;

tp_status tp__string_append(tp__string *string, const char *text);
tp_status tp__string_append_bytes(tp__string *string, const char *bytes, size_t n);
tp_status tp__string_printf(tp__string *string, const char *format, ...) TP__PRINTF(2, 3);
tp_status tp__string_vprintf(tp__string *string, const char *format, va_list args) TP__PRINTF(2, 0);
/* Appends the text with `mark` in place of each number: "l*_wq" for "l12_wq". */
tp_status tp__string_append_without_numbers(tp__string *string, const char *text, char mark);
/* Returns the current text, "" if empty. Borrowed. */
const char *tp__string_text(const tp__string *string);
/* Transfers the text to the caller (tp__free) and empties the string. NULL if an append failed. */
char *tp__string_take(tp__string *string);
/* Empties the string, but keeps its memory. */
void tp__string_clear(tp__string *string);
void tp__string_destroy(tp__string *string);

/* Appends to a caller's buffer of `size` bytes like snprintf: *length grows by the full length of
 * the text; the buffer receives the part that fits and is always terminated (if size > 0). */
void tp__text_printf(char *text, size_t size, size_t *length, const char *format, ...)
    TP__PRINTF(4, 5);

/* Parses a number of bytes below 2^62: a number with or without a unit (B, KB, MB, GB, TB, KiB,
 * MiB, GiB, TiB). */
bool tp__parse_bytes(const char *text, int64_t *bytes);

/* Human-readable sizes and times, in a unit with one to four digits before the point: "512 B", "1.5
 * KiB"; "-2.37 us". */
typedef struct tp__short_text {
  char chars[32];
} tp__short_text;

tp__short_text tp__bytes_text(int64_t bytes);
tp__short_text tp__seconds_text(double seconds);

/* Writes a text of the program as it is shown: "\u202e" for a character that is not seen, such as
 * controls and marks of direction. Those in `kept` stay as they are. Returns the length of all, as
 * snprintf does; with size 0 `shown` may be NULL. */
size_t tp__visible(const char *text, const char *kept, size_t size, char *shown);

/* ---- suggestions ---- */

/* Returns by how many insertions, removals, changes and exchanges of neighbors two words differ. */
int tp__word_distance(const char *a, const char *b);

/* Returns the word, of n, that differs least from the first `length` characters of `word`; NULL if
 * all differ in more than a third of the characters and one. Of equally close words, the first. */
const char *tp__closest_word(const char *word, size_t length, int n, const char *const *words);

#ifdef __cplusplus
}
#endif
#endif
