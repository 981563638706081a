/* Internal support shared by the compiler library: allocation, arena, strings.
 *
 * Every allocation of the library goes through tp__malloc and its relatives, so that one test hook
 * can make any of them fail. A failed allocation returns NULL and is turned into TP_NO_MEMORY by
 * the caller; nothing here aborts.
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

/* malloc and relatives; never called with the intent to get NULL for size 0 (a size of 0 counts as
 * 1). */
void *tp__malloc(size_t size);
/* Zeroed; NULL when n * size overflows. */
void *tp__calloc(size_t n, size_t size);
/* Room for n items of `size`; NULL when n * size overflows, and then `old` is still valid, as with
 * realloc. */
void *tp__realloc(void *old, size_t n, size_t size);
void tp__free(void *memory);
/* Test hook of this thread: the k-th allocation from now (k >= 1) and all later ones fail; 0
 * switches it off. */
void tp__alloc_fail_at(int64_t k);

/* Grows *items (capacity *capacity, item size `size`) so that `needed` items fit; at least
 * doubles. */
tp_status tp__grow(void **items, size_t *capacity, size_t needed, size_t size);

/* ---- arena ---- */

/* A bump allocator: what one pass run or one cache allocates is freed at once. A zeroed struct is a
 * valid empty arena. */
typedef struct tp__arena_block tp__arena_block;
typedef struct tp__arena {
  tp__arena_block *blocks; /* newest first */
  size_t used;             /* bytes used of the newest block */
} tp__arena;

/* Zeroed memory, aligned for any type, valid until tp__arena_destroy. NULL when memory runs out. */
void *tp__arena_alloc(tp__arena *arena, size_t size);
/* n items of `size`; NULL also when n * size overflows. */
void *tp__arena_array(tp__arena *arena, size_t n, size_t size);
/* Copies of a string, and of `length` bytes with a zero behind them. */
char *tp__arena_strdup(tp__arena *arena, const char *text);
char *tp__arena_strndup(tp__arena *arena, const char *text, size_t length);
char *tp__arena_printf(tp__arena *arena, const char *format, ...) TP__PRINTF(2, 3);
/* Frees everything; the arena is empty and usable afterwards. */
void tp__arena_destroy(tp__arena *arena);

/* ---- strings ---- */

/* A growing text. A zeroed struct is a valid empty string. Failure is sticky: after the first
 * failed allocation appends do nothing, and `failed` (or the status of any append, or of take) says
 * so; so that a sequence of appends is checked once. */
typedef struct tp__string {
  char *text; /* owned, zero-terminated; NULL while nothing was appended (use tp__string_text) */
  size_t length;
  size_t capacity;
  bool failed;
} tp__string;

tp_status tp__string_append(tp__string *string, const char *text);
tp_status tp__string_append_bytes(tp__string *string, const char *bytes, size_t n);
tp_status tp__string_printf(tp__string *string, const char *format, ...) TP__PRINTF(2, 3);
tp_status tp__string_vprintf(tp__string *string, const char *format, va_list args) TP__PRINTF(2, 0);
/* The text so far, "" when empty. Borrowed. */
const char *tp__string_text(const tp__string *string);
/* Gives the text to the caller (tp__free) and empties the string; NULL if an append failed. */
char *tp__string_take(tp__string *string);
/* Empties, keeps the memory. */
void tp__string_clear(tp__string *string);
void tp__string_destroy(tp__string *string);

/* Appends to a caller's buffer of `size` bytes as snprintf does: *length grows by what the full
 * text needs, the buffer receives what fits and is always terminated (if size > 0). */
void tp__text_printf(char *text, size_t size, size_t *length, const char *format, ...)
    TP__PRINTF(4, 5);

/* A number of bytes: digits with a unit (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB) or without, less
 * than 2^62. */
bool tp__parse_bytes(const char *text, int64_t *bytes);

/* Sizes and times to read, in the unit in which they have one to four digits before the point: "512
 * B", "1.5 KiB"; "-2.37 us". */
typedef struct tp__short_text {
  char chars[32];
} tp__short_text;

tp__short_text tp__bytes_text(int64_t bytes);
tp__short_text tp__seconds_text(double seconds);

#ifdef __cplusplus
}
#endif
#endif
