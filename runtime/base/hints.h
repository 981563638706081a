/* Hints: settings of communicators and operations that users pass as text. */
#ifndef TPRT_RUNTIME_HINTS_H
#define TPRT_RUNTIME_HINTS_H

#include "base/base.h"

typedef enum tprt__hint {
  TPRT__HINT_TIMEOUT, /* nanoseconds */
  TPRT__HINT_DETERMINISTIC,
  TPRT__HINT_NAN_CHECK,
  TPRT__HINT_FLIGHT,
  TPRT__HINT_PRIORITY, /* a tprt__priority */
  TPRT__HINT_TRAFFIC_CLASS,
  TPRT__HINT_MIN_CTAS,
  TPRT__HINT_MAX_CTAS,
  TPRT__HINT_DEVICE,
  TPRT__HINT_INDEPENDENT,
  TPRT__N_HINTS,
} tprt__hint;

enum { TPRT__UNSET = -1 }; /* value of a hint that was not given */

typedef enum tprt__priority { TPRT__LOW, TPRT__NORMAL, TPRT__HIGH } tprt__priority;

/* Where a hint is given. */
typedef enum tprt__hint_place {
  TPRT__HINT_OF_OP = 1 << 0,
  TPRT__HINT_AT_CREATION = 1 << 1,
  TPRT__HINT_LATER = 1 << 2,
} tprt__hint_place;

enum { TPRT__NAME_BYTES = 64, TPRT__PATH_BYTES = 512 };

/* A tprt_comm_config with every field resolved. */
typedef struct tprt__comm_settings {
  int64_t hints[TPRT__N_HINTS];
  uint32_t given; /* bits of the hints that the configuration names, others are inherited */
  bool aborts;    /* the process, when the communicator fails */
  char name[TPRT__NAME_BYTES];
  char flight_dir[TPRT__PATH_BYTES]; /* "": none */
  uint64_t world;                    /* number of the world in flight recorders; 0: none */
  void *stream;
} tprt__comm_settings;

/* Reads one hint that is given at `place`, a tprt__hint_place. */
tprt_status tprt__hint_read(const char *key, const char *value, unsigned place, tprt__hint *hint,
                            int64_t *number);
/* Reads the n hints of `owner`, named in messages, into numbers[hint], and sets their bits in
 * *given. Hints that are not among them stay as they are. */
tprt_status tprt__hints_read(const tprt_hint *hints, size_t n, const char *owner, unsigned place,
                             int64_t *numbers, uint32_t *given);
/* Refuses a directory for the flight recorder in which nothing can be written: the recorder is
 * written when a communicator fails, which is too late to say so. */
tprt_status tprt__flight_dir_check(const char *what, const char *path);
/* Overrides settings, those of the parent or of the environment, with a configuration, which may be
 * NULL. `name` is the default name. */
tprt_status tprt__comm_settings_apply(const tprt_comm_config *config, const char *name,
                                      tprt__comm_settings *settings);
/* Writes the value of a hint as the text that sets it. */
void tprt__hint_print(tprt__hint hint, int64_t value, char *text, size_t n);

#endif
