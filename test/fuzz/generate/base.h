/* Utilities of all modes: random numbers and growing text. */
#ifndef FUZZ_BASE_H
#define FUZZ_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* splitmix64: the same sequence on all machines. */
typedef struct rng {
  uint64_t state;
} rng;
uint64_t rng_next(rng *r);
int rng_below(rng *r, int n); /* 0 .. n-1 */
bool rng_chance(rng *r, int percent);

/* A growing text; zero-initialized is empty. */
typedef struct text {
  char *chars; /* zero-terminated after the first addition */
  size_t length, capacity;
} text;
void text_add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_bytes(text *t, const char *bytes, size_t n);
void text_clear(text *t);

/* Appends the whole file; false if it cannot be read. */
bool text_read(text *t, const char *path);
bool text_write(const char *path, const char *content);

#endif
