/* Random numbers and growing text of the fuzzer. */
#include "base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t rng_next(rng *r) {
  uint64_t z = (r->state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

int rng_below(rng *r, int n) { return n > 1 ? (int)(rng_next(r) >> 33) % n : 0; }

bool rng_chance(rng *r, int percent) { return rng_below(r, 100) < percent; }

/* Ends the process if memory runs out: the fuzzer cannot continue. */
static void grow(text *t, size_t more) {
  if (t->length + more + 1 <= t->capacity)
    return;
  t->capacity = 2 * (t->length + more) + 64;
  t->chars = realloc(t->chars, t->capacity);
  if (!t->chars)
    abort();
}

void text_bytes(text *t, const char *bytes, size_t n) {
  grow(t, n);
  memcpy(t->chars + t->length, bytes, n);
  t->length += n;
  t->chars[t->length] = 0;
}

void text_add(text *t, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  grow(t, (size_t)n);
  vsnprintf(t->chars + t->length, (size_t)n + 1, format, again);
  va_end(again);
  t->length += (size_t)n;
}

void text_clear(text *t) {
  free(t->chars);
  *t = (text){0};
}

bool text_read(text *t, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return false;
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
    text_bytes(t, part, n);
  return fclose(file) == 0;
}

bool text_write(const char *path, const char *content) {
  FILE *file = fopen(path, "wb");
  bool ok = file && fputs(content, file) >= 0;
  return file && fclose(file) == 0 && ok;
}
