/* Names of status codes. */
#include "support/support.h"

const char *tp_status_name(tp_status status) {
  static const char *const names[] = {
      [TP_OK] = "ok",
      [TP_INVALID_ARGUMENT] = "invalid argument",
      [TP_NOT_FOUND] = "not found",
      [TP_UNSUPPORTED] = "unsupported",
      [TP_INFEASIBLE] = "infeasible",
      [TP_NO_MEMORY] = "no memory",
      [TP_IO] = "input/output error",
      [TP_INTERNAL] = "internal error",
      [TP_CANCELLED] = "cancelled",
  };
  size_t i = (size_t)status;
  return i < TP__COUNT(names) ? names[i] : "unknown status";
}
