/* The ops that may occur in picks, and their semantics on numbers that represent values. */
#include "rules/arg_reduction_proof.h"

#include <math.h>

enum { EQUAL = 1, GREATER = 2, LESS = 4, UNORDERED = 8 };

static double compare(int relations, const double *v) {
  int relation = isnan(v[0]) || isnan(v[1]) ? UNORDERED
                 : v[0] < v[1]              ? LESS
                 : v[0] > v[1]              ? GREATER
                                            : EQUAL;
  return (relations & relation) != 0;
}

/* Predicates: false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno, true. */
static double compare_floats(int predicate, const double *v) {
  bool with_unordered = predicate >= 8 && predicate != 14;
  return compare(predicate < 8    ? predicate
                 : with_unordered ? UNORDERED | (predicate - 7)
                                  : UNORDERED,
                 v);
}

/* Predicates: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge. Numbers of one sort are compared
 * either signed or unsigned, so each comparison is a total order. */
static double compare_integers(int predicate, const double *v) {
  static const int bits[] = {EQUAL,   LESS | GREATER,  LESS, LESS | EQUAL,
                             GREATER, GREATER | EQUAL, LESS, LESS | EQUAL,
                             GREATER, GREATER | EQUAL};
  return compare(bits[predicate], v);
}

static double choose(int unused, const double *v) {
  (void)unused;
  return v[0] != 0 ? v[1] : v[2];
}

static double maximum(int unused, const double *v) {
  (void)unused;
  return isnan(v[0]) || isnan(v[1]) ? (double)NAN : fmax(v[0], v[1]);
}

static double minimum(int unused, const double *v) {
  (void)unused;
  return isnan(v[0]) || isnan(v[1]) ? (double)NAN : fmin(v[0], v[1]);
}

static double maximum_number(int unused, const double *v) {
  (void)unused;
  return fmax(v[0], v[1]);
}

static double minimum_number(int unused, const double *v) {
  (void)unused;
  return fmin(v[0], v[1]);
}

static double both(int unused, const double *v) {
  (void)unused;
  return v[0] != 0 && v[1] != 0;
}

static double either(int unused, const double *v) {
  (void)unused;
  return v[0] != 0 || v[1] != 0;
}

static double one_of(int unused, const double *v) {
  (void)unused;
  return (v[0] != 0) != (v[1] != 0);
}

const tp__arg_reduction_op tp__arg_reduction_ops[] = {
    {"arith.cmpf", TP_PICK_COMPARE, TP_PICK_NO_SIGN, compare_floats},
    {"arith.cmpi", TP_PICK_COMPARE, TP_PICK_BY_PREDICATE, compare_integers},
    {"arith.select", TP_PICK_CHOOSE, TP_PICK_NO_SIGN, choose},
    {"scf.if", TP_PICK_CHOOSE, TP_PICK_NO_SIGN, choose},
    {"arith.maximumf", TP_PICK_EXTREME, TP_PICK_NO_SIGN, maximum},
    {"arith.minimumf", TP_PICK_EXTREME, TP_PICK_NO_SIGN, minimum},
    {"arith.maxnumf", TP_PICK_EXTREME, TP_PICK_NO_SIGN, maximum_number},
    {"arith.minnumf", TP_PICK_EXTREME, TP_PICK_NO_SIGN, minimum_number},
    {"arith.maxsi", TP_PICK_EXTREME, TP_PICK_SIGNED, maximum},
    {"arith.minsi", TP_PICK_EXTREME, TP_PICK_SIGNED, minimum},
    {"arith.maxui", TP_PICK_EXTREME, TP_PICK_UNSIGNED, maximum},
    {"arith.minui", TP_PICK_EXTREME, TP_PICK_UNSIGNED, minimum},
    {"arith.andi", TP_PICK_LOGIC, TP_PICK_NO_SIGN, both},
    {"arith.ori", TP_PICK_LOGIC, TP_PICK_NO_SIGN, either},
    {"arith.xori", TP_PICK_LOGIC, TP_PICK_NO_SIGN, one_of},
};

const int tp__n_arg_reduction_ops = TP_LEN(tp__arg_reduction_ops);
