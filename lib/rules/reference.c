/* Describes the rule families for the documentation. */
#include "tp/rules.h"

#include "rules/rule.h"

int tp_family_count(void) {
  int n;
  tp__families(&n);
  return n;
}

tp_family_info tp_family_get(int i) {
  int n;
  const tp_family *const *families = tp__families(&n);
  if (i < 0 || i >= n)
    return (tp_family_info){0};
  const tp_family *f = families[i];
  return (tp_family_info){f->name, f->ops, f->summary, f->communication, f->test};
}
