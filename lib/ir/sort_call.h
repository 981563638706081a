/* Sorts of tensors. A sort is a call of a private declaration with the attribute tp.sort:
 *
 *     %s:2 = call @tp.sort(%keys, %payload) {tp.sort = {dim = 1, less = @less}}
 *         : (tensor<4x9xf32>, tensor<4x9xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
 *
 * The operands have one shape. The elements of each row along `dim` are brought into the order of
 * the comparator `less`, a function of one block. It takes two numbers per operand, a0, b0, a1, b1
 * and so on, and returns true if element a must precede element b. It has the
 * attribute tp.comparator, and is not planned. The sort is stable. The results
 * are the first elements of each sorted row: all of them, or fewer, as their types say. */
#ifndef TP_IR_SORT_H
#define TP_IR_SORT_H

#include "ir/ir.h"

/* The maximum number of operands of a sort. */
enum { TP_MAX_SORTED = 32 };

typedef struct tp_sort {
  int n;   /* operands and results */
  int dim; /* the sorted dimension */
  int rank;
  int64_t size, kept; /* elements of a row, and those of them that are results */
  MlirOperation less; /* the comparator */
} tp_sort;

/* True for a call of a declaration that has the attribute. */
bool tp__is_sort(MlirOperation op);

/* A visitor: adds each sort to `list`, a tp_op_list. */
tp_status tp__collect_sort(MlirOperation op, void *list);

/* Reads and checks a sort. An error emits one diagnostic. */
tp_status tp__sort_read(MlirOperation op, tp_sort *sort);

/* Return the sorted dimension, and the comparator with its name, of a sort that was checked. */
int tp__sort_dim(MlirOperation op);
MlirOperation tp__sort_comparator(MlirOperation op);
MlirAttribute tp__sort_less(MlirOperation op);

/* True if the comparator uses the numbers of operand i. */
bool tp__sort_is_key(const tp_sort *sort, int i);

/* True if the comparator may trap on numbers that the tensors do not hold, such as padding. */
bool tp__sort_may_trap(const tp_sort *sort);

/* Returns the number of merges that sort n elements: log2(n), rounded up. */
int tp__sort_merges(int64_t n);

/* True if so few elements are kept that it is faster to collect candidates for them than to sort
 * the row. Such a row has at least four elements per kept one. */
bool tp__sort_selects(const tp_sort *sort);

/* Returns the number of arithmetic ops with which all rows are sorted, or their first elements
 * selected. */
double tp__sort_work(MlirOperation op, const tp_sort *sort);

/* Builds a sort along `dim` before `where`, whose results have `kept` elements along it. `less`
 * names the comparator. */
MlirOperation tp__sort_build(MlirOperation where, MlirLocation location, MlirOperation module,
                             int n, const MlirValue *operands, int dim, int64_t kept,
                             MlirAttribute less);

/* A new comparator of n operands with these element types, at the end of the module. The caller
 * builds ops in front of `end` and gives it an operand of type i1. */
typedef struct tp_comparator {
  MlirOperation func, end;
  MlirAttribute symbol;
  MlirValue arguments[2 * TP_MAX_SORTED];
} tp_comparator;
tp_comparator tp__comparator_build(MlirOperation module, MlirLocation location, int n,
                                   const MlirType *elements);

/* Builds the ops of a comparator before `where`. Returns its result. */
MlirValue tp__comparator_inline(MlirOperation less, MlirOperation where,
                                const MlirValue *arguments);

/* Makes a sort call a declaration of its types, after they changed. */
void tp__sort_redeclare(MlirOperation module, MlirOperation op);

/* True for a declaration that sorts call, and for a comparator with tp.comparator. */
bool tp__is_sort_symbol(MlirOperation op);

#endif
