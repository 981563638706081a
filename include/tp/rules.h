/* Sharding rules: the op families that the library knows, and rules for unknown ops.
 *
 * ---- Rules as text ----
 *
 * An op of no family gets its rule from an attribute, or from a registration (see below). The
 * attribute takes precedence:
 *
 *     %c = "my.matmul"(%a, %b) {tp.rule = "([i,k],[k,j])->([i,j]) reduction={k}"}
 *        : (...) -> tensor<8x16xf32>
 *
 *     rule    = "(" lists ")" "->" "(" lists ")" { clause }
 *     list    = "[" [ dim { "," dim } ] "]"            a tensor: one dim for each dimension
 *             | "()"                                   anything else
 *     dim     = name                                   a factor
 *             | "(" name { name } ")"                  joined factors, major to minor: 64 = 4 * 16
 *             | "1"                                    size 1
 *             | "_"                                    never split
 *     clause  = "reduction={" name [ ":" combiner ] { "," ... } "}"
 *             | "fixed={" name { "," name } "}"
 *             | "init={" number { "," number } "}"
 *             | "linear={" number { "," number } "}"   may be repeated
 *             | "uneven={" name { "," name } "}"
 *
 * There is one list for each operand and each result, in order. A name starts with a letter. The
 * size of a factor comes from the shapes. The clauses define how a factor can be split:
 *
 * - no clause: the op may run on a slice of every operand and result that has the factor, and then
 *   computes the slice of the result. If an operand has the factor, every result has it.
 * - reduction: as above, but slices give partial results, which must be reduced with the combiner:
 *   default sum; product, max, min, maxnumf, minnumf, maxui, minui, and, or, xor. No result has the
 *   factor. All reduction factors share one combiner.
 * - fixed: never split; like "_", but the sizes of its dimensions must agree.
 *
 * init lists the operands that a reduction starts from (acc in acc + sum). They are partial if the
 * result is, so that they are counted once. Without init, an operand without a reduction factor is
 * the same on all devices and is counted once per device.
 *
 * linear declares that sums pass through the op: if the operands of one clause are partial sums and
 * all others are the same on every device, the results are partial sums. linear={0} means op(a + b,
 * c) = op(a, c) + op(b, c). linear={0,1} means op(a + b, c + d) = op(a, c) + op(b, d), which holds
 * for an addition. A product has linear={0} linear={1}. Without this clause, partial values are
 * reduced before the op.
 *
 * A dimension is split only by axes that divide it, unless uneven lists its factor. With uneven,
 * shards have equal buffers. The last ones hold unspecified data after their valid elements, or
 * only unspecified data. uneven declares that the op tolerates such padding: the results for valid
 * points depend on valid elements only, and no element makes it trap. The other elements of the
 * results are unspecified. Only factors without another clause can be uneven.
 *
 * A rule asserts that the op works on any local shapes: partitioning changes only its types, unless
 * a registration has a `localize`. An op with regions that hold tensors cannot have a rule. The
 * library cannot check that a rule is correct.
 *
 * Such an op must be lowered before it can run: tp-lower-to-runtime rejects unknown ops. Lower it
 * between tp-partition and tp-to-runtime.
 *
 * Ownership: all strings of tp_family_info are static. Thread rule: safe everywhere; for callbacks
 * see below. */
#ifndef TP_RULES_H
#define TP_RULES_H

#include "tp/spec.h"
#include "tp/status.h"

#include <mlir-c/IR.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tp_family_info {
  const char *name;          /* "reshape" */
  const char *ops;           /* the ops of the family */
  const char *summary;       /* the dimensions that can be sharded */
  const char *communication; /* the communication that this needs besides reshards of operands */
  const char *test;          /* folder or file with its tests, from the root of the source tree */
} tp_family_info;

/* Return the number of families, and the `i`-th of them; all NULL if i is out of range. If several
 * families know an op, the first one counts. */
TP_API int tp_family_count(void);
TP_API tp_family_info tp_family_get(int i);

/* ---- Registered rules ---- */

/* An op that is being rewritten to its local shapes. Valid during the callback. */
typedef struct tp_local_op tp_local_op;

/* Returns the op. Its operands are local already; its results still have their global types. */
TP_API MlirOperation tp_local_op_get(const tp_local_op *local);
TP_API const tp_mesh *tp_local_op_mesh(const tp_local_op *local);
/* Return the sharding of operand or result `i`; replicated for scalars and if `i` is out of
 * range. */
TP_API tp_spec tp_local_op_operand(const tp_local_op *local, int i);
TP_API tp_spec tp_local_op_result(const tp_local_op *local, int i);
/* Returns the number of shards of the factor of this name (1: not split); 0 if the rule has no such
 * factor. */
TP_API int64_t tp_local_op_shards(const tp_local_op *local, const char *factor);
/* Returns the index of this device's shard along the factor, as a value of type index before the
 * op. The null value if the factor is not split or does not exist. */
TP_API MlirValue tp_local_op_shard_index(const tp_local_op *local, const char *factor);
/* Returns the index of this device's first point along the factor, in the same form. For a shard
 * that is all padding, it is at or beyond the size of the factor. */
TP_API MlirValue tp_local_op_offset(const tp_local_op *local, const char *factor);

/* A rule for all ops of one name. Set unused fields to zero. */
typedef struct tp_rule_registration {
  size_t size;    /* sizeof(tp_rule_registration), set by the caller */
  const char *op; /* "my.matmul"; copied */
  /* the rule text of every op of this name; copied. NULL if `describe` gives it. */
  const char *rule;
  /* Writes the rule text of one op into `text` (text_size bytes), if it depends on attributes or
   * shapes. To reject the op, returns a status other than TP_OK, with the reason in `why`. Must not
   * change the program; is called several times for an op. */
  tp_status (*describe)(MlirOperation op, char *text, size_t text_size, char *why, size_t why_size,
                        void *data);
  /* Rewrites parts of the op that types do not express, for example an attribute with an offset.
   * May set attributes and operands of the op and insert ops before it, but not erase or replace
   * it. The library then sets the result types from the sharding. NULL: only types change. Reports
   * errors as `describe` does. */
  tp_status (*localize)(const tp_local_op *local, char *why, size_t why_size, void *data);
  void *data; /* passed to the callbacks; borrowed until the rule is unregistered */
} tp_rule_registration;

/* Adds a rule for all contexts of this process. TP_INVALID_ARGUMENT, with a message in `why` (may
 * be NULL), if the text violates the grammar, if both or neither of `rule` and `describe` are
 * given, or if the name has a rule already; TP_NO_MEMORY. An op that a family of this library knows
 * is rejected when a program with it is planned: its semantics are known, so a second rule could
 * only contradict them.
 *
 * Thread rule: registering and looking up may happen on any threads at once. Callbacks run on the
 * thread of the pass, so several run at once if several modules are compiled. Unregister only while
 * no pass runs. */
TP_API tp_status tp_rule_register(const tp_rule_registration *registration, char *why,
                                  size_t why_size);
/* Removes a rule. TP_NOT_FOUND if the name has no registered rule. */
TP_API tp_status tp_rule_unregister(const char *op);

#ifdef __cplusplus
}
#endif
#endif
