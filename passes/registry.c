/* The table of all passes, and their constructors. */
#include "passes/registry.h"

#include "ir/ir.h"

#include "tp/passes.h"

const tp_pass_row *const *tp__pass_rows(int *n) {
#define TP_ROW(name) &tp__##name##_row,
  static const tp_pass_row *const rows[] = {TP_PASS_LIST(TP_ROW)};
#undef TP_ROW
  *n = TP_LEN(rows);
  return rows;
}

#define TP_CREATE(name)                                                                            \
  MlirPass tp_create_##name(MlirContext context, const char *options) {                            \
    return tp__create_pass(&tp__##name##_row, context, options);                                   \
  }
TP_PASS_LIST(TP_CREATE)
#undef TP_CREATE
