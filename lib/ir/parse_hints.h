/* Ways out of errors of MLIR's parser. They do not say them, since they know no cause. */
#ifndef TP_IR_PARSE_HINTS_H
#define TP_IR_PARSE_HINTS_H

#include <mlir-c/IR.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the parser could have been meant to read. The names are borrowed. */
typedef struct tp_known_names {
  int n_ops, n_dialects;
  const char *const *ops, *const *dialects;
} tp_known_names;

/* True if there may be a hint for an error of this text. */
bool tp__is_parse_error(const char *message);

enum { TP_PARSE_HINT = 512 };
/* Writes what to do about an error of the parser at that place. False: nothing is
 * known. */
bool tp__parse_hint(const char *message, MlirLocation place, const tp_known_names *known,
                    char hint[TP_PARSE_HINT]);
/* Returns how programs with ops of another project's dialect are converted; NULL: it is unknown. */
const char *tp__foreign_dialect_hint(MlirStringRef dialect);

#ifdef __cplusplus
}
#endif
#endif
