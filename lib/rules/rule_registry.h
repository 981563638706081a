/* Rules registered by a program that embeds the library, by op name. */
#ifndef TP_RULES_REGISTRY_H
#define TP_RULES_REGISTRY_H

#include "rules/rule_text.h"
#include "tp/rules.h"

struct tp_local_op {
  const tp_local *local;
};

/* Finds the registration for ops of this name. False if there is none. Its strings live until it is
 * unregistered. */
bool tp__registered_rule(MlirStringRef op, tp_rule_registration *registration);

#endif
