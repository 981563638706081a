/* Writes the loops that sort.
 *
 * Rows are sorted one after the other, in buffers that hold the keys of one row and, unless all
 * operands are keys, the positions of its elements. Sorted pieces of 1, 2, 4, ... elements are
 * merged from one buffer into another and back (D. Knuth, The Art of Computer Programming, vol. 3,
 * 5.2.4, algorithm S). If only the first k elements of a row are kept, a buffer of 2 k candidates
 * takes those that precede the kth; when it is full, it is sorted and its first half is kept. Both
 * are stable, and comparisons select values instead of branches.
 *
 * A column is what is moved of each element: a key, or the position. The text has these types: !x,
 * !r and !n with the number of an operand are the operand, the result and the element; !e and !b
 * with the number of a column are the element and the buffer. */
#include "passes/bufferize/sort_text.h"

#include "passes/support/from_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

typedef struct writer {
  const tp_sort *sort;
  int64_t shape[TP_MAX_RANK];
  MlirStringRef less;
  int n_columns;
  int operand_of[TP_MAX_SORTED + 1]; /* by column; -1: the position */
  int column_of[TP_MAX_SORTED];      /* by operand; -1: it is read at the position */
  int depth;                         /* loops over rows around the current text */
  tp__string text;
} writer;

static void add(writer *w, const char *format, ...) TP__PRINTF(2, 3);
static void add(writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tp__string_vprintf(&w->text, format, args);
  va_end(args);
}

/* Adds the text n times, for the numbers from `first` on, which replace each '$' in it. */
static void each(writer *w, int first, int n, const char *separator, const char *format, ...)
    TP__PRINTF(5, 6);
static void each(writer *w, int first, int n, const char *separator, const char *format, ...) {
  char part[256];
  va_list args;
  va_start(args, format);
  vsnprintf(part, sizeof part, format, args);
  va_end(args);
  for (int k = first; k < first + n; k++) {
    add(w, "%s", k > first ? separator : "");
    for (const char *at = part; *at; at++)
      if (*at == '$')
        add(w, "%d", k);
      else
        tp__string_append_bytes(&w->text, at, 1);
  }
}

/* The same for all columns. */
#define COLUMNS(w, separator, ...) each(w, 0, (w)->n_columns, separator, __VA_ARGS__)

/* Adds a list for the buffers of all columns and for those into which they are merged. */
static void add_buffers(writer *w, const char *buffers, const char *others) {
  COLUMNS(w, ", ", "%s", buffers);
  add(w, ", ");
  COLUMNS(w, ", ", "%s", others);
}

/* Adds the indices of the element of the current row at `position`. */
static void place(writer *w, const char *position) {
  add(w, "[");
  for (int d = 0; d < w->sort->rank; d++)
    if (d == w->sort->dim)
      add(w, "%s%s", d ? ", " : "", position);
    else
      add(w, "%s%%row%d", d ? ", " : "", d);
  add(w, "]");
}

/* Adds the comparison of columns: %name = less(%a$, %b$). */
static void compare(writer *w, const char *name, const char *a, const char *b) {
  add(w, "%%%s = func.call @\"%.*s\"(", name, (int)w->less.length, w->less.data);
  for (int i = 0; i < w->sort->n; i++) {
    int c = w->column_of[i];
    if (c < 0) /* not used by the comparator */
      add(w, "%s%%any%d, %%any%d", i ? ", " : "", i, i);
    else
      add(w, "%s%%%s%d, %%%s%d", i ? ", " : "", a, c, b, c);
  }
  add(w, ") : (");
  each(w, 0, w->sort->n, ", ", "!n$, !n$");
  add(w, ") -> i1\n");
}

/* ---- types and constants ---- */

static void add_alias(writer *w, const char *letter, int i, MlirType type) {
  add(w, "!%s%d = ", letter, i);
  tp__append_type(&w->text, type);
  add(w, "\n");
}

static void add_types(writer *w, MlirOperation op, int64_t length) {
  for (int i = 0; i < w->sort->n; i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    add_alias(w, "x", i, type);
    add_alias(w, "n", i, tp__element_type(type));
    add_alias(w, "r", i, mlirValueGetType(mlirOperationGetResult(op, i)));
  }
  for (int c = 0; c < w->n_columns; c++) {
    int i = w->operand_of[c];
    MlirType element = i >= 0 ? tp__element_type(mlirValueGetType(mlirOperationGetOperand(op, i)))
                              : mlirIntegerTypeGet(mlirOperationGetContext(op),
                                                   w->sort->size > INT32_MAX ? 64 : 32);
    add_alias(w, "e", c, element);
    add_alias(w, "b", c, mlirRankedTensorTypeGet(1, &length, element, (MlirAttribute){NULL}));
  }
}

static void add_constants(writer *w, int64_t length) {
  const tp_sort *s = w->sort;
  add(w, "%%true = arith.constant true\n");
  add(w, "%%zero = arith.constant 0 : index\n%%one = arith.constant 1 : index\n");
  add(w, "%%two = arith.constant 2 : index\n");
  add(w, "%%size = arith.constant %lld : index\n", (long long)s->size);
  add(w, "%%room = arith.constant %lld : index\n", (long long)length);
  add(w, "%%last_place = arith.constant %lld : index\n", (long long)length - 1);
  add(w, "%%kept = arith.constant %lld : index\n", (long long)s->kept);
  add(w, "%%last_kept = arith.constant %lld : index\n", (long long)s->kept - 1);
  for (int d = 0; d < s->rank; d++)
    add(w, "%%rows%d = arith.constant %lld : index\n", d, (long long)w->shape[d]);
  for (int i = 0; i < s->n; i++)
    if (w->column_of[i] < 0) {
      add(w, "%%any%d = tensor.extract %%x%d[", i, i);
      each(w, 0, s->rank, ", ", "%%zero");
      add(w, "] : !x%d\n", i);
    }
}

/* ---- one row ---- */

/* Reads the element at %p of the row: a value %v of each column. */
static void read_element(writer *w) {
  for (int c = 0; c < w->n_columns; c++)
    if (w->operand_of[c] < 0) {
      add(w, "%%v%d = arith.index_cast %%p : index to !e%d\n", c, c);
    } else {
      add(w, "%%v%d = tensor.extract %%x%d", c, w->operand_of[c]);
      place(w, "%p");
      add(w, " : !x%d\n", w->operand_of[c]);
    }
}

/* Copies the row into the buffers `to`: %load. */
static void load(writer *w, const char *to) {
  add(w, "%%load:%d = scf.for %%p = %%zero to %%size step %%one iter_args(", w->n_columns);
  COLUMNS(w, ", ", "%%l$ = %%%s", to);
  add(w, ") -> (");
  COLUMNS(w, ", ", "!b$");
  add(w, ") {\n");
  read_element(w);
  COLUMNS(w, "", "%%w$ = tensor.insert %%v$ into %%l$[%%p] : !b$\n");
  add(w, "scf.yield ");
  COLUMNS(w, ", ", "%%w$");
  add(w, " : ");
  COLUMNS(w, ", ", "!b$");
  add(w, "\n}\n");
}

/* Merges two sorted pieces, [%lo, %mid) and [%mid, %hi), of the buffers `from` into %c. The next
 * element comes from the first piece unless that is used up, or the second piece has one that must
 * precede it. */
static void merge_two(writer *w, const char *from) {
  int n = w->n_columns;
  add(w, "%%in:%d = scf.for %%to = %%lo to %%hi step %%one iter_args(", n + 2);
  COLUMNS(w, ", ", "%%d$ = %%c$");
  add(w, ", %%i = %%lo, %%j = %%mid) -> (");
  COLUMNS(w, ", ", "!b$");
  add(w, ", index, index) {\n"
         "%%at_i = arith.minsi %%i, %%last_place : index\n"
         "%%at_j = arith.minsi %%j, %%last_place : index\n");
  COLUMNS(w, "", "%%f$ = tensor.extract %%%s[%%at_i] : !b$\n", from);
  COLUMNS(w, "", "%%s$ = tensor.extract %%%s[%%at_j] : !b$\n", from);
  compare(w, "precedes", "s", "f");
  add(w, "%%has_first = arith.cmpi slt, %%i, %%mid : index\n"
         "%%no_second = arith.cmpi sge, %%j, %%hi : index\n"
         "%%follows = arith.xori %%precedes, %%true : i1\n"
         "%%may = arith.ori %%no_second, %%follows : i1\n"
         "%%first = arith.andi %%has_first, %%may : i1\n");
  COLUMNS(w, "", "%%m$ = arith.select %%first, %%f$, %%s$ : !e$\n");
  COLUMNS(w, "", "%%y$ = tensor.insert %%m$ into %%d$[%%to] : !b$\n");
  add(w, "%%i_step = arith.select %%first, %%one, %%zero : index\n"
         "%%j_step = arith.select %%first, %%zero, %%one : index\n"
         "%%i_next = arith.addi %%i, %%i_step : index\n"
         "%%j_next = arith.addi %%j, %%j_step : index\n"
         "scf.yield ");
  COLUMNS(w, ", ", "%%y$");
  add(w, ", %%i_next, %%j_next : ");
  COLUMNS(w, ", ", "!b$");
  add(w, ", index, index\n}\n");
}

/* Merges all neighboring pieces of %width elements, of the first %n elements, from buffers into
 * others: %name, and the new width %name_width. */
static void merge_all(writer *w, const char *name, const char *from, const char *to, const char *n,
                      const char *width) {
  add(w, "%%%s_width = arith.addi %%%s, %%%s : index\n", name, width, width);
  add(w, "%%%s:%d = scf.for %%lo = %%zero to %%%s step %%%s_width iter_args(", name, w->n_columns,
      n, name);
  COLUMNS(w, ", ", "%%c$ = %%%s", to);
  add(w, ") -> (");
  COLUMNS(w, ", ", "!b$");
  add(w, ") {\n");
  add(w, "%%end_first = arith.addi %%lo, %%%s : index\n", width);
  add(w, "%%end_second = arith.addi %%lo, %%%s_width : index\n", name);
  add(w, "%%mid = arith.minsi %%end_first, %%%s : index\n", n);
  add(w, "%%hi = arith.minsi %%end_second, %%%s : index\n", n);
  merge_two(w, from);
  add(w, "scf.yield ");
  COLUMNS(w, ", ", "%%in#$");
  add(w, " : ");
  COLUMNS(w, ", ", "!b$");
  add(w, "\n}\n");
}

/* Sorts the first %n elements of buffers, whose pieces of %width elements are sorted, by
 * 2 * n_pairs merges: %name, and the others, %name_by. A loop merges twice, so that it carries each
 * buffer in its place. */
static void merge_pairs(writer *w, const char *name, const char *buffers, const char *others,
                        const char *n, const char *width, int n_pairs) {
  char carried[64], carried_others[64];
  snprintf(carried, sizeof carried, "%%g$ = %%%s", buffers);
  snprintf(carried_others, sizeof carried_others, "%%h$ = %%%s", others);
  add(w, "%%%s_pairs = arith.constant %d : index\n", name, n_pairs);
  add(w, "%%%s:%d, %%%s_by:%d, %%%s_width = ", name, w->n_columns, name, w->n_columns, name);
  add(w, "scf.for %%pair = %%zero to %%%s_pairs step %%one iter_args(", name);
  add_buffers(w, carried, carried_others);
  add(w, ", %%width = %%%s) -> (", width);
  add_buffers(w, "!b$", "!b$");
  add(w, ", index) {\n");
  merge_all(w, "there", "g$", "h$", n, "width");
  merge_all(w, "back", "there#$", "g$", n, "there_width");
  add(w, "scf.yield ");
  add_buffers(w, "%back#$", "%there#$");
  add(w, ", %%back_width : ");
  add_buffers(w, "!b$", "!b$");
  add(w, ", index\n}\n");
}

/* Sorts the row: the buffers %sorted, and the others, %sorted_by. If the number of merges is odd,
 * one is done before the pairs. */
static void sort_row(writer *w) {
  int n_merges = tp__sort_merges(w->sort->size);
  bool is_odd = n_merges % 2;
  char a[32], b[32];
  snprintf(a, sizeof a, "a$_%d", w->depth);
  snprintf(b, sizeof b, "b$_%d", w->depth);
  load(w, is_odd ? b : a);
  if (is_odd)
    merge_all(w, "start", "load#$", a, "size", "one");
  merge_pairs(w, "sorted", is_odd ? "start#$" : "load#$", is_odd ? "load#$" : b, "size",
              is_odd ? "two" : "one", n_merges / 2);
}

/* ---- the first elements of a row ---- */

/* Reads the next element, and adds it to the candidates %q unless k candidates precede it: the
 * buffers %w, and the number of candidates %filled. The element is written in any case; the next
 * one overwrites it. */
static void add_candidate(writer *w) {
  read_element(w);
  COLUMNS(w, "", "%%z$ = tensor.extract %%q$[%%last_kept] : !b$\n");
  compare(w, "is_first", "v", "z");
  add(w, "%%is_early = arith.cmpi slt, %%p, %%room : index\n"
         "%%enters = arith.ori %%is_early, %%is_first : i1\n"
         "%%step = arith.select %%enters, %%one, %%zero : index\n"
         "%%filled = arith.addi %%count, %%step : index\n");
  COLUMNS(w, "", "%%w$ = tensor.insert %%v$ into %%q$[%%count] : !b$\n");
}

/* If the buffer is full, sorts it and keeps the first half: %cut, the others, %cut_by, and the
 * number of candidates. A loop of one turn or none takes the place of a branch, because
 * bufferization copies what a branch yields. */
static void cut_candidates(writer *w, int n_pairs) {
  add(w, "%%is_full = arith.cmpi eq, %%filled, %%room : index\n"
         "%%turns = arith.select %%is_full, %%one, %%zero : index\n");
  add(w, "%%cut:%d, %%cut_by:%d, %%cut_count = ", w->n_columns, w->n_columns);
  add(w, "scf.for %%turn = %%zero to %%turns step %%one iter_args(");
  add_buffers(w, "%k$ = %w$", "%l$ = %u$");
  add(w, ", %%old = %%filled) -> (");
  add_buffers(w, "!b$", "!b$");
  add(w, ", index) {\n");
  merge_pairs(w, "full", "k$", "l$", "room", "one", n_pairs);
  add(w, "scf.yield ");
  add_buffers(w, "%full#$", "%full_by#$");
  add(w, ", %%kept : ");
  add_buffers(w, "!b$", "!b$");
  add(w, ", index\n}\n");
}

/* Selects the first elements of the row: the buffers %sorted, and the others, %sorted_by. */
static void select_row(writer *w) {
  int n_pairs = (tp__sort_merges(2 * w->sort->kept) + 1) / 2;
  char carried[32], carried_others[32];
  snprintf(carried, sizeof carried, "%%q$ = %%a$_%d", w->depth);
  snprintf(carried_others, sizeof carried_others, "%%u$ = %%b$_%d", w->depth);
  add(w, "%%found:%d, %%found_by:%d, %%found_count = ", w->n_columns, w->n_columns);
  add(w, "scf.for %%p = %%zero to %%size step %%one iter_args(");
  add_buffers(w, carried, carried_others);
  add(w, ", %%count = %%zero) -> (");
  add_buffers(w, "!b$", "!b$");
  add(w, ", index) {\n");
  add_candidate(w);
  cut_candidates(w, n_pairs);
  add(w, "scf.yield ");
  add_buffers(w, "%cut#$", "%cut_by#$");
  add(w, ", %%cut_count : ");
  add_buffers(w, "!b$", "!b$");
  add(w, ", index\n}\n");
  merge_pairs(w, "sorted", "found#$", "found_by#$", "found_count", "one", n_pairs);
}

/* ---- results ---- */

/* Copies the first elements of the sorted row to the results: %out. */
static void store(writer *w) {
  int n = w->sort->n, position = w->n_columns - 1;
  add(w, "%%out:%d = scf.for %%p = %%zero to %%kept step %%one iter_args(", n);
  each(w, 0, n, ", ", "%%s$ = %%r$_%d", w->depth);
  add(w, ") -> (");
  each(w, 0, n, ", ", "!r$");
  add(w, ") {\n");
  COLUMNS(w, "", "%%v$ = tensor.extract %%sorted#$[%%p] : !b$\n");
  if (w->operand_of[position] < 0)
    add(w, "%%from = arith.index_cast %%v%d : !e%d to index\n", position, position);
  for (int i = 0; i < n; i++) {
    if (w->column_of[i] < 0) {
      add(w, "%%y%d = tensor.extract %%x%d", i, i);
      place(w, "%from");
      add(w, " : !x%d\n", i);
    }
    add(w, "%%t%d = tensor.insert %%%s%d into %%s%d", i, w->column_of[i] < 0 ? "y" : "v",
        w->column_of[i] < 0 ? i : w->column_of[i], i);
    place(w, "%p");
    add(w, " : !r%d\n", i);
  }
  add(w, "scf.yield ");
  each(w, 0, n, ", ", "%%t$");
  add(w, " : ");
  each(w, 0, n, ", ", "!r$");
  add(w, "\n}\n");
}

/* ---- all rows ---- */

/* The types of what the loops over rows carry: results, the buffers, and the others. */
static void types_of_rows(writer *w) {
  each(w, 0, w->sort->n, ", ", "!r$");
  add(w, ", ");
  add_buffers(w, "!b$", "!b$");
}

static void one_row(writer *w, bool selects) {
  if (selects)
    select_row(w);
  else
    sort_row(w);
  store(w);
}

/* Adds a loop over each dimension but the sorted one, and in the innermost one the row. */
static void all_rows(writer *w, int dim, bool selects) {
  int n = w->sort->n, m = 2 * w->n_columns, depth = w->depth;
  dim += dim == w->sort->dim;
  if (dim >= w->sort->rank) {
    one_row(w, selects);
    return;
  }
  add(w, "%%all%d:%d = scf.for %%row%d = %%zero to %%rows%d step %%one iter_args(", depth, n + m,
      dim, dim);
  each(w, 0, n, ", ", "%%r$_%d = %%r$_%d", depth + 1, depth);
  add(w, ", ");
  COLUMNS(w, ", ", "%%a$_%d = %%a$_%d", depth + 1, depth);
  add(w, ", ");
  COLUMNS(w, ", ", "%%b$_%d = %%b$_%d", depth + 1, depth);
  add(w, ") -> (");
  types_of_rows(w);
  add(w, ") {\n");
  w->depth++;
  all_rows(w, dim + 1, selects);
  add(w, "scf.yield ");
  if (dim + 1 + (dim + 1 == w->sort->dim) >= w->sort->rank) {
    each(w, 0, n, ", ", "%%out#$");
    add(w, ", ");
    add_buffers(w, "%sorted#$", "%sorted_by#$");
  } else {
    each(w, 0, n + m, ", ", "%%all%d#$", depth + 1);
  }
  add(w, " : ");
  types_of_rows(w);
  add(w, "\n}\n");
}

static void find_columns(writer *w) {
  bool has_payload = false;
  for (int i = 0; i < w->sort->n; i++) {
    bool is_key = tp__sort_is_key(w->sort, i);
    has_payload |= !is_key;
    w->column_of[i] = is_key ? w->n_columns : -1;
    if (is_key)
      w->operand_of[w->n_columns++] = i;
  }
  if (has_payload)
    w->operand_of[w->n_columns++] = -1;
}

tp__string tp__sort_text(MlirOperation op, const tp_sort *sort) {
  bool selects = tp__sort_selects(sort);
  int n = sort->n, rank;
  writer w = {.sort = sort, .less = mlirFlatSymbolRefAttrGetValue(tp__sort_less(op))};
  tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(op, 0)), &rank, w.shape);
  find_columns(&w);
  int64_t length = selects ? 2 * sort->kept : sort->size;
  add_types(&w, op, length);
  add(&w, "module {\nfunc.func @tp.sort(");
  each(&w, 0, n, ", ", "%%x$ : !x$");
  add(&w, ") -> (");
  each(&w, 0, n, ", ", "!r$");
  add(&w, ") {\n");
  add_constants(&w, length);
  each(&w, 0, n, "", "%%r$_0 = tensor.empty() : !r$\n");
  COLUMNS(&w, "", "%%a$_0 = tensor.empty() : !b$\n");
  COLUMNS(&w, "", "%%b$_0 = tensor.empty() : !b$\n");
  all_rows(&w, 0, selects);
  add(&w, "func.return ");
  each(&w, 0, n, ", ", rank > 1 ? "%%all0#$" : "%%out#$");
  add(&w, " : ");
  each(&w, 0, n, ", ", "!r$");
  add(&w, "\n}\nfunc.func private @\"%.*s\"(", (int)w.less.length, w.less.data);
  each(&w, 0, n, ", ", "!n$, !n$");
  add(&w, ") -> i1\n}\n");
  return w.text;
}
