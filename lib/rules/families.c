/* The table of rule families. The first family that matches an op provides its rule. */
#include "rules/families.h"

#include "rules/rule.h"

const tp_family *const *tp__families(int *n) {
  static const tp_family *const families[] = {
      &tp__lookup_family,
      &tp__ordered_reduction_family, /* before linalg: they are generics too */
      &tp__linalg_family,
      &tp__elementwise_family,
      &tp__constant_family,
      &tp__reshape_family,
      &tp__barrier_family,
      &tp__slice_family,
      &tp__concat_family,
      &tp__pad_family,
      &tp__scalar_family,
      &tp__border_family, /* before collective: some of them are borders */
      &tp__collective_family,
      &tp__sort_family,
      &tp__call_family,
      &tp__user_family, /* last: ops that no other family matches */
  };
  *n = TP_LEN(families);
  return families;
}
