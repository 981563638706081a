/* Rules: which ops can be sharded, and how; and rules for ops that the library does not know.
 *
 * ---- Rules as text ----
 *
 * An op of no family gets its rule from an attribute, or from a registration (below; the attribute
 * counts first):
 *
 *     %c = "my.matmul"(%a, %b) {tp.rule = "([i,k],[k,j])->([i,j]) reduction={k}"} : (...) ->
 *       tensor<8x16xf32>
 *
 *     rule    = "(" lists ")" "->" "(" lists ")" { clause }
 *     list    = "[" [ dim { "," dim } ] "]"            a tensor: one dim for each dimension
 *             | "()"                                   anything else
 *     dim     = name                                   a factor
 *             | "(" name { name } ")"                  factors joined, major to minor: 64 that is 4
 *               heads of 16
 *             | "1"                                    size 1
 *             | "_"                                    never split
 *     clause  = "reduction={" name [ ":" combiner ] { "," ... } "}"
 *             | "fixed={" name { "," name } "}"
 *             | "init={" number { "," number } "}"
 *             | "linear={" number { "," number } "}"   several times, if the op is linear in
 *               several ways
 *             | "uneven={" name { "," name } "}"
 *
 * There is one list for each operand and each result, in order. A name starts with a letter. The
 * size of a factor is read off the shapes. What a factor says:
 *
 * - no clause: the op may run on a slice of every operand and result that has the factor, and then
 *   computes the slice of
 *   the result. Every result has it, if an operand does;
 * - reduction: the same, but slices give partial results, which the combiner (default sum; product,
 *   max, min, maxnumf,
 *   minnumf, maxui, minui, and, or, xor) makes whole. No result has it. All reduction factors share
 *     one combiner;
 * - fixed: never split; as "_", but the sizes of its dimensions are compared.
 *
 * init names operands that a reduction starts from (acc in acc + sum): partial where the result is,
 * so that they enter once. Without this an operand that has no reduction factor is the same on all
 * devices and enters once per device.
 *
 * linear says that sums pass through: where the operands named by one clause are partial sums and
 * all others the same on every device, the results are partial sums. op(a + b, c) = op(a, c) +
 * op(b, c) for linear={0}; op(a + b, c + d) = op(a, c) + op(b, d) for linear={0,1}, as an addition
 * has it, and a product has linear={0} linear={1}. Without this, partial values are summed before
 * the op.
 *
 * A dimension is split only by axes that divide it, unless uneven names its factor. Shards then
 * have equal buffers, of which the last ones hold unspecified data behind their valid elements, or
 * nothing else. uneven states that the op leaves padding alone: what it computes for valid points
 * depends on valid elements only, and no element makes it trap. Only factors without another clause
 * can be uneven. The other elements of the results are unspecified.
 *
 * The rule states that the op works on any local shapes: it is rewritten by its types only, unless
 * a registration has a `localize`. An op with regions that hold tensors cannot have one. What the
 * library cannot check is whether the rule is true.
 *
 * Such an op runs only after it was lowered: tp-lower-to-runtime refuses ops that it does not know.
 * Lower it between tp-partition and tp-to-runtime.
 *
 * Ownership: all strings of tp_family_info are static. Thread rule: safe everywhere; see below for
 * callbacks. */
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
  const char *ops;           /* the ops it knows */
  const char *summary;       /* which of their dimensions can be sharded */
  const char *communication; /* what that needs beside changes of layout of operands */
  const char *test;          /* folder or file with its tests, from the root of the source tree */
} tp_family_info;

/* Number of families, and the `i`-th of them; all NULL when i is out of range. Of several that know
 * an op the first counts. */
TP_API int tp_family_count(void);
TP_API tp_family_info tp_family_get(int i);

/* ---- Registered rules ---- */

/* An op that is being rewritten for its local shapes. Valid during the callback. */
typedef struct tp_local_op tp_local_op;

/* Its operands are local already; its results have their global types still. */
TP_API MlirOperation tp_local_op_get(const tp_local_op *local);
TP_API const tp_mesh *tp_local_op_mesh(const tp_local_op *local);
/* The layout of operand or result `i`; replicated for scalars and for `i` out of range. */
TP_API tp_spec tp_local_op_operand(const tp_local_op *local, int i);
TP_API tp_spec tp_local_op_result(const tp_local_op *local, int i);
/* Into how many shards the factor of this name is split (1: not), 0 if the rule has no such
 * factor. */
TP_API int64_t tp_local_op_shards(const tp_local_op *local, const char *factor);
/* The number of this device's shard along the factor, as a value of type index in front of the op.
 * The null value when the factor is not split, or does not exist. */
TP_API MlirValue tp_local_op_shard_index(const tp_local_op *local, const char *factor);
/* The index of this device's first point along the factor, likewise; at or beyond the size of the
 * factor for a shard that is all padding. */
TP_API MlirValue tp_local_op_offset(const tp_local_op *local, const char *factor);

/* A rule for all ops of one name. Zero what is not used. */
typedef struct tp_rule_registration {
  size_t size;      /* sizeof(tp_rule_registration), set by the caller */
  const char *op;   /* "my.matmul"; copied */
  const char *rule; /* the text for every op of this name; copied. NULL when `describe` gives it. */
  /* Writes the text for one op, where it depends on attributes or shapes, into `text` (text_size
   * bytes). To refuse the op, returns another status than TP_OK, with the reason in `why`. Must not
   * change the program; called several times for an op. */
  tp_status (*describe)(MlirOperation op, char *text, size_t text_size, char *why, size_t why_size,
                        void *data);
  /* Rewrites what types do not say, for example an attribute with an offset: may set attributes and
   * operands of the op and insert ops in front of it, not erase or replace it. Result types are set
   * behind it, by the layouts. NULL: nothing but types. Fails as `describe` does. */
  tp_status (*localize)(const tp_local_op *local, char *why, size_t why_size, void *data);
  void *data; /* given to the callbacks; borrowed until the rule is unregistered */
} tp_rule_registration;

/* Adds a rule, for all contexts of this process. TP_INVALID_ARGUMENT, with a message in `why` (may
 * be NULL), when the text breaks the grammar, both or neither of `rule` and `describe` are given,
 * or the name has a rule already; TP_NO_MEMORY. An op that a family of this library knows is
 * refused when a program with it is planned: its meaning is known, a second rule could only
 * contradict it.
 *
 * Thread rule: registering and looking up may happen on any threads at once. Callbacks run on the
 * thread of the pass, so several at once when several modules are compiled. Unregister only while
 * no pass runs. */
TP_API tp_status tp_rule_register(const tp_rule_registration *registration, char *why,
                                  size_t why_size);
/* TP_NOT_FOUND when the name has no registered rule. */
TP_API tp_status tp_rule_unregister(const char *op);

#ifdef __cplusplus
}
#endif
#endif
