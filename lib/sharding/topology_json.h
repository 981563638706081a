/* Reads JSON objects by tables of keys. Every error reports the line and the path of the wrong
 * value. */
#ifndef TP_LIB_SHARDING_TOPOLOGY_JSON_H
#define TP_LIB_SHARDING_TOPOLOGY_JSON_H

#include "support/json_line.h"
#include "support/support.h"

#include <jansson.h>

enum { TP__MAX_JSON_STEPS = 8 };

typedef struct tp__json_reader {
  const char *label, *text; /* label: the name of the text in messages */
  size_t length;
  char *why; /* may be NULL */
  size_t why_size;
  int n_steps;
  tp__json_step steps[TP__MAX_JSON_STEPS]; /* the path to the current value */
} tp__json_reader;

/* Returns TP_INVALID_ARGUMENT. Writes the message to `why`, after the label, line and path of the
 * current value. */
TP__PRINTF(2, 3) tp_status tp__json_wrong(const tp__json_reader *r, const char *format, ...);
/* Returns the type as messages name it: "an object", ... */
const char *tp__json_type(const json_t *value);

/* The range of a number. */
typedef enum tp__json_range {
  TP__JSON_POSITIVE,
  TP__JSON_NOT_NEGATIVE,
  TP__JSON_PART,  /* from 0 to 1 */
  TP__JSON_SHARE, /* above 0, at most 1 */
  TP__JSON_COUNT, /* an integer, at least 1 */
  TP__JSON_GROUP, /* an integer, at least 2 */
} tp__json_range;

/* Reads the current value into `to`. */
typedef tp_status (*tp__json_read)(tp__json_reader *r, json_t *value, void *to);

/* A key of an object. */
typedef struct tp__json_field {
  const char *key;
  bool optional;  /* if the key is missing, `number` or `to` is unchanged */
  double *number; /* destination of a number in `range`; NULL: `read` reads the value */
  tp__json_range range;
  tp__json_read read;
  void *to;
} tp__json_field;

/* Checks that the current value is an object with no keys other than these n, and reads them in
 * order. `what` describes the expected value. */
tp_status tp__json_object(tp__json_reader *r, json_t *value, const char *what, int n,
                          const tp__json_field *fields);
/* Reads one key of the current object before the others. */
tp_status tp__json_member(tp__json_reader *r, const json_t *object, const tp__json_field *field);
/* Reads each item of the current value, which must be a list, with `read`. */
tp_status tp__json_list(tp__json_reader *r, json_t *value, const char *what, tp__json_read read,
                        void *to);
/* The same for a list of 1 to `most` items, which messages call `items`. */
tp_status tp__json_short_list(tp__json_reader *r, json_t *value, const char *what, int most,
                              const char *items, tp__json_read read, void *to);

#endif
