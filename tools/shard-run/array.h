/* Dense arrays of the element types that programs use, and npy files. */
#ifndef SHARD_RUN_ARRAY_H
#define SHARD_RUN_ARRAY_H

#include "tp/layout.h"

#include <stdio.h>

typedef struct element {
  const char *name;  /* as MLIR prints it */
  const char *descr; /* npy descriptor; bf16 and f8 are stored as f32 of the same value */
  int64_t size;
  char kind;   /* 'f' float, 'i' integer, 'b' bool */
  bool narrow; /* f16, bf16, f8 */
  int parts;   /* numbers per element: 2 for complex types */
} element;

/* Finds an element type by name; NULL if arrays do not support it. */
const element *element_find(const char *name);

typedef struct array {
  const element *type;
  int rank;
  int64_t shape[TP_MAX_RANK];
  void *data; /* owned */
} array;

int64_t array_count(const array *a);
size_t array_bytes(const array *a);
/* Creates a zeroed array. False if memory runs out. */
bool array_create(array *a, const element *type, int rank, const int64_t *shape);
void array_clear(array *a);
/* Returns the number of numbers: two per complex element, the real part first. */
int64_t array_numbers(const array *a);
/* Returns how many of the numbers are NaN. `first`, of `size` bytes, receives the indices of the
 * first of them, "3, 5". */
int64_t array_count_nan(const array *a, char *first, size_t size);
/* Returns number `i`; exact except for 64-bit integers beyond 2^53. */
double array_get(const array *a, int64_t i);
void array_set(array *a, int64_t i, double value);
/* Copies a box of `size` from position from_at to position to_at, between two arrays of one type
 * and rank. */
static inline void array_copy_box(const array *from, const int64_t *from_at, array *to,
                                  const int64_t *to_at, const int64_t *size) {
  const tp_box_copy box = {from->rank, from->type->size, size, from->shape,
                           from_at,    to->shape,        to_at};
  tp_copy_box(&box, from->data, to->data);
}

/* Reads a file whose type and shape must equal those of `a` (type, rank and shape are set, data is
 * not). On failure `why` has a message. */
bool npy_read(const char *path, array *a, char *why, size_t why_size);
/* Like npy_read, but dimensions of the file may be smaller; the shape of `a` becomes the file's. */
bool npy_read_part(const char *path, array *a, char *why, size_t why_size);
/* Describes the array that a file must hold to be read as `a`, such as "an array of shape (8, 16)
 * with elements of type <f4 (f32)". Returns the text. */
const char *npy_describe(const array *a, char text[400]);
/* False with errno set on failure. */
bool npy_write(FILE *file, const array *a);

#endif
