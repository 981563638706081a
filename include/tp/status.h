/* Status codes of the compiler library.
 *
 * A function that can fail returns a tp_status. Outputs come last in the argument list and are
 * written only on TP_OK. Inside passes a failure also carries exactly one MLIR diagnostic, emitted
 * where the error is detected; callers only propagate the code.
 *
 * Thread rule: values are immutable data, safe everywhere. */
#ifndef TP_STATUS_H
#define TP_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TP_API __attribute__((visibility("default")))
#else
#define TP_API
#endif

typedef enum tp_status {
  TP_OK = 0,
  TP_INVALID_ARGUMENT, /* the caller's input is wrong: fix the call or the program */
  TP_NOT_FOUND,        /* a name (axis, mesh, file, topology) does not exist */
  /* valid, but not supported by this version; the message suggests an alternative */
  TP_UNSUPPORTED,
  TP_INFEASIBLE, /* no plan satisfies the constraints */
  TP_NO_MEMORY,  /* allocation failed */
  TP_IO,         /* a file could not be read or written */
  TP_INTERNAL,   /* a bug in this library: please report */
  TP_CANCELLED,  /* the caller ended the work before it was done */
} tp_status;

/* The code's name in lower case, e.g. "invalid argument". Static storage. */
TP_API const char *tp_status_name(tp_status status);

/* Returns the status of `expression` from the calling function, unless it is TP_OK. A function that
 * owns something to release has no TP_TRY behind the acquisition: it calls an inner function, then
 * releases and returns that function's status. */
#define TP_TRY(expression)                                                                         \
  do {                                                                                             \
    tp_status tp__tried = (expression);                                                            \
    if (tp__tried != TP_OK)                                                                        \
      return tp__tried;                                                                            \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif
