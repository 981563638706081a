/* Reads and writes NumPy's npy format, versions 1 to 3: little-endian arrays in C order. */
#include "array.h"

#include "tprt/tprt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HEADER = 65536 };

static bool fail(char *why, size_t size, const char *path, const char *what) {
  snprintf(why, size, "%s: %s", path, what);
  return false;
}

/* Reads the text of the header, zero-terminated, into a buffer of MAX_HEADER bytes. */
static bool read_header(FILE *file, const char *path, char *text, char *why, size_t why_size) {
  unsigned char head[12];
  size_t n_read = fread(head, 1, 10, file);
  if (n_read == 0)
    return fail(why, why_size, path, ferror(file) ? strerror(errno) : "is empty; write it again");
  if (n_read == 10 && memcmp(head, "version ht", 10) == 0)
    return fail(why, why_size, path, "is a pointer of Git LFS; fetch the array with git lfs pull");
  if (n_read != 10 || memcmp(head, "\x93NUMPY", 6) != 0)
    return fail(why, why_size, path, "is not an npy file, as numpy.save writes it");
  size_t n = head[8] | (size_t)head[9] << 8;
  if (head[6] < 1 || head[6] > 3)
    return fail(why, why_size, path, "has a version of the npy format that is not 1, 2 or 3");
  if (head[6] > 1) {
    if (fread(head + 10, 1, 2, file) != 2)
      return fail(why, why_size, path, "ends inside its header");
    n |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
  }
  if (n >= MAX_HEADER || fread(text, 1, n, file) != n)
    return fail(why, why_size, path, "ends inside its header");
  text[n] = 0;
  return true;
}

/* Returns the start of the value of 'key'. */
static const char *find_value(const char *header, const char *key) {
  const char *at = strstr(header, key);
  at = at ? strchr(at, ':') : NULL;
  return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

static bool parse_shape(const char *text, int *rank, int64_t *shape) {
  *rank = 0;
  if (!text || *text != '(')
    return false;
  for (text++; *text && *text != ')';) {
    char *end;
    errno = 0;
    long long size = strtoll(text, &end, 10);
    if (end == text || errno || size < 0 || *rank == TP_MAX_RANK)
      return false;
    shape[(*rank)++] = size;
    text = end + strspn(end, " ,L");
  }
  return *text == ')';
}

static void shape_text(int rank, const int64_t *shape, char *text, size_t size) {
  size_t n = (size_t)snprintf(text, size, "(");
  for (int d = 0; d < rank && n < size; d++)
    n += (size_t)snprintf(text + n, size - n, d + 1 < rank || rank == 1 ? "%lld, " : "%lld",
                          (long long)shape[d]);
  if (n >= 2 && rank == 1 && n < size)
    n -= 1; /* trailing comma, as in (3,) */
  if (n < size)
    snprintf(text + n, size - n, ")");
}

const char *npy_describe(const array *a, char text[400]) {
  char shape[256];
  shape_text(a->rank, a->shape, shape, sizeof shape);
  snprintf(text, 400, "an array of shape %s with elements of type %s (%s)", shape, a->type->descr,
           a->type->name);
  return text;
}

/* True if a file with such elements has those of the type. An integer of MLIR has no sign, so numpy
 * may save it with one or without. */
static bool has_elements(const char *found, const element *type) {
  const char *wanted = type->descr;
  return strcmp(found, wanted) == 0 || (found[0] == wanted[0] && found[1] == 'u' &&
                                        wanted[1] == 'i' && strcmp(found + 2, wanted + 2) == 0);
}

/* Checks a header. `part`: dimensions may be smaller than those of `a`, whose shape becomes the
 * file's. *columns_first: in Fortran order. */
static bool check_header(const char *header, const char *path, bool part, array *a,
                         bool *columns_first, char *why, size_t why_size) {
  const char *descr = find_value(header, "'descr'"), *order = find_value(header, "'fortran_order'");
  int rank;
  int64_t shape[TP_MAX_RANK];
  char found[40] = "";
  if (!descr || !order || !parse_shape(find_value(header, "'shape'"), &rank, shape))
    return fail(why, why_size, path, "has an npy header that cannot be read");
  *columns_first = strncmp(order, "True", 4) == 0;
  /* a list describes the fields of a structure */
  if (sscanf(descr, "'%38[^']'", found) != 1 && sscanf(descr, "%38[^]]", found) == 1)
    strcat(found, "]");
  if (strcmp(found, a->type->descr) != 0 && strstr(found, "V2")) {
    snprintf(why, why_size,
             "%s: has elements of type %s, which numpy writes for bfloat16; convert x before it is "
             "saved: x.astype(\"%s\")",
             path, found, a->type->descr);
    return false;
  }
  if (!has_elements(found, a->type)) {
    snprintf(why, why_size, "%s: has elements of type %s, expected %s (%s); save x.astype(\"%s\")",
             path, found, a->type->descr, a->type->name, a->type->descr);
    return false;
  }
  bool fits = rank == a->rank;
  for (int d = 0; d < rank && fits; d++)
    fits = shape[d] == a->shape[d] || (part && shape[d] < a->shape[d]);
  if (!fits) {
    char have[256], want[256];
    shape_text(rank, shape, have, sizeof have);
    shape_text(a->rank, a->shape, want, sizeof want);
    snprintf(why, why_size, "%s: has shape %s, expected %s%s", path, have, part ? "at most " : "",
             want);
    return false;
  }
  memcpy(a->shape, shape, (size_t)rank * sizeof *shape);
  return true;
}

/* Returns true for bf16 and f8, which numpy lacks: they are stored as f32. */
static bool is_widened(const array *a) {
  return strcmp(a->type->name, "bf16") == 0 || (a->type->kind == 'f' && a->type->size == 1);
}

/* Puts the elements of an array that was read in Fortran order, where the first index changes
 * fastest, into the order of C. */
static bool reorder(array *a) {
  array made;
  if (!array_create(&made, a->type, a->rank, a->shape))
    return false;
  int64_t n = array_count(a), index[TP_MAX_RANK] = {0};
  size_t size = a->type->size;
  for (int64_t from = 0; from < n; from++) {
    int64_t to = 0;
    for (int d = 0; d < a->rank; d++)
      to = to * a->shape[d] + index[d];
    memcpy((char *)made.data + (size_t)to * size, (char *)a->data + (size_t)from * size, size);
    for (int d = 0; d < a->rank && ++index[d] == a->shape[d]; d++)
      index[d] = 0;
  }
  array_clear(a);
  *a = made;
  return true;
}

static bool read_data(FILE *file, const char *path, bool columns_first, array *a, char *why,
                      size_t why_size) {
  array made;
  if (!array_create(&made, a->type, a->rank, a->shape))
    return fail(why, why_size, path, "memory ran out");
  int64_t n = array_count(&made);
  bool ok;
  if (is_widened(a)) {
    ok = true;
    for (int64_t i = 0; i < n && ok; i++) {
      float value;
      ok = fread(&value, sizeof value, 1, file) == 1;
      array_set(&made, i, ok ? (double)value : 0);
    }
  } else {
    ok = fread(made.data, 1, array_bytes(&made), file) == array_bytes(&made);
  }
  if (!ok) {
    array_clear(&made);
    snprintf(why, why_size, "%s: ends before the last of its %lld elements of %s; write it again",
             path, (long long)n, a->type->name);
    return false;
  }
  if (columns_first && !reorder(&made)) {
    array_clear(&made);
    return fail(why, why_size, path, "memory ran out");
  }
  *a = made;
  return true;
}

static bool read_array(const char *path, bool part, array *a, char *why, size_t why_size) {
  static _Thread_local char header[MAX_HEADER];
  bool columns_first = false;
  FILE *file = fopen(path, "rb");
  if (!file)
    return fail(why, why_size, path, strerror(errno));
  bool ok = read_header(file, path, header, why, why_size) &&
            check_header(header, path, part, a, &columns_first, why, why_size) &&
            read_data(file, path, columns_first, a, why, why_size);
  fclose(file);
  return ok;
}

bool npy_read(const char *path, array *a, char *why, size_t why_size) {
  return read_array(path, false, a, why, why_size);
}

bool npy_read_part(const char *path, array *a, char *why, size_t why_size) {
  return read_array(path, true, a, why, why_size);
}

bool npy_write(FILE *file, const array *a) {
  char shape[256], header[512];
  shape_text(a->rank, a->shape, shape, sizeof shape);
  int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                   a->type->descr, shape);
  int padded = (10 + n + 1 + 63) / 64 * 64 - 10; /* data starts at a multiple of 64 */
  unsigned char head[10] = {
      0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)padded, (unsigned char)(padded >> 8)};
  bool ok = fwrite(head, 1, sizeof head, file) == sizeof head &&
            fprintf(file, "%-*s\n", padded - 1, header) == padded;
  if (is_widened(a)) {
    for (int64_t i = 0; i < array_count(a) && ok; i++) {
      float value = (float)array_get(a, i);
      ok = fwrite(&value, sizeof value, 1, file) == 1;
    }
  } else {
    ok = ok && fwrite(a->data, 1, array_bytes(a), file) == array_bytes(a);
  }
  return ok;
}
