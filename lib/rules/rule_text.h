/* A rule as text, "([i,k],[k,j])->([i,j]) reduction={k}": what tp.rule on an op and registered
 * rules are written in. The grammar stands in include/tp/rules.h. Reading has two steps: the text
 * by itself, then its fit to one op. */
#ifndef TP_RULES_RULE_TEXT_H
#define TP_RULES_RULE_TEXT_H

#include "rules/rule.h"

enum {
  TP_MAX_LISTS = 64,       /* operands and results of one rule */
  TP_MAX_FACTOR_NAME = 24, /* bytes, with the terminating zero */
};

typedef struct tp_text_list {
  bool is_scalar; /* "()" */
  bool is_init;
  int rank;
  uint32_t ones; /* bit d: dimension d is written "1" */
  tp_dim dims[TP_MAX_RANK];
} tp_text_list;

typedef struct tp_text_factor {
  char name[TP_MAX_FACTOR_NAME];
  tp_factor_kind kind;
  bool named;     /* in a clause that says its kind */
  bool uneven;    /* shards of it may have padding */
  uint64_t lists; /* bit l: stands in list l */
} tp_text_factor;

typedef struct tp_rule_text {
  int n_operands, n_results;
  tp_text_list lists[TP_MAX_LISTS]; /* operands, then results */
  int n_factors;                    /* in the order in which they first appear */
  tp_text_factor factors[TP_MAX_FACTORS];
  bool reduces;
  tp_combiner combiner; /* of all reduction factors */
  int n_linear;
  /* bit i: sums pass through operand i, where the others of the set are partial too */
  uint64_t linear[TP_MAX_VARIANTS];
} tp_rule_text;

/* Reads `text`. TP_INVALID_ARGUMENT with a message in `why` when it breaks the grammar or
 * contradicts itself. */
tp_status tp__rule_text_parse(const char *text, tp_rule_text *rule, char *why, size_t why_size);
/* What the text says against itself: kinds of factors, where they may stand. The second half of
 * parsing. */
tp_status tp__rule_text_check(const tp_rule_text *rule, char *why, size_t why_size);

/* Fills a begun rule (tp__rule_begin) by the text. Emits a diagnostic at the op when they do not
 * fit. */
tp_status tp__rule_text_fit(const tp_rule_text *text, tp_rule *rule);

#endif
