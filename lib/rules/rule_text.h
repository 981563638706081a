/* Rules as text, "([i,k],[k,j])->([i,j]) reduction={k}": the form of tp.rule on an op and of
 * registered rules. include/tp/rules.h has the grammar. Reading has two steps: first the text is
 * parsed, then it is fitted to one op. */
#ifndef TP_RULES_RULE_TEXT_H
#define TP_RULES_RULE_TEXT_H

#include "rules/rule.h"

enum {
  TP_MAX_LISTS = 64,       /* operands and results of one rule */
  TP_MAX_FACTOR_NAME = 24, /* bytes, with the terminating zero */
};

typedef struct tp_text_list {
  bool is_scalar; /* written "()" */
  bool is_init;
  int rank;
  uint32_t ones; /* bit d: dimension d is written "1" */
  tp_dim dims[TP_MAX_RANK];
} tp_text_list;

typedef struct tp_text_factor {
  char name[TP_MAX_FACTOR_NAME];
  tp_factor_kind kind;
  bool named;     /* named in a clause that sets its kind */
  bool uneven;    /* shards may have padding */
  uint64_t lists; /* bit l: occurs in list l */
} tp_text_factor;

typedef struct tp_rule_text {
  int n_operands, n_results;
  tp_text_list lists[TP_MAX_LISTS]; /* operands, then results */
  int n_factors;                    /* in order of first appearance */
  tp_text_factor factors[TP_MAX_FACTORS];
  bool reduces;
  tp_combiner combiner; /* of all reduction factors */
  int n_linear;
  /* bit i: sums pass through operand i, if the other operands of the set are partial too */
  uint64_t linear[TP_MAX_VARIANTS];
} tp_rule_text;

/* Parses `text`. TP_INVALID_ARGUMENT with a message in `why` if it violates the grammar or
 * contradicts itself. */
tp_status tp__rule_text_parse(const char *text, tp_rule_text *rule, char *why, size_t why_size);
/* Checks the text for contradictions: the kinds of factors, and where they may occur. This is the
 * second half of parsing. */
tp_status tp__rule_text_check(const tp_rule_text *rule, char *why, size_t why_size);

/* Fills a rule that tp__rule_begin has started from the text. Emits a diagnostic at the op if they
 * do not fit. */
tp_status tp__rule_text_fit(const tp_rule_text *text, tp_rule *rule);

#endif
