/* Reading JSON key by key, by tables: every error says line and path of what is wrong. */
#ifndef TP_LIB_SHARDING_TOPOLOGY_JSON_H
#define TP_LIB_SHARDING_TOPOLOGY_JSON_H

#include "support/json_line.h"
#include "support/support.h"

#include <jansson.h>

enum { TP__MAX_JSON_STEPS = 8 };

typedef struct tp__json_reader {
  const char *label, *text; /* label: what messages call the text */
  size_t length;
  char *why; /* may be NULL */
  size_t why_size;
  int n_steps;
  tp__json_step steps[TP__MAX_JSON_STEPS]; /* to the value at hand */
} tp__json_reader;

/* Always TP_INVALID_ARGUMENT. The message goes to `why`, behind label, line and path of the value
 * at hand. */
TP__PRINTF(2, 3) tp_status tp__json_wrong(const tp__json_reader *r, const char *format, ...);
/* As messages name it: "an object", ... */
const char *tp__json_type(const json_t *value);

/* What a number may be. */
typedef enum tp__json_range {
  TP__JSON_POSITIVE,
  TP__JSON_NOT_NEGATIVE,
  TP__JSON_SHARE, /* above 0, at most 1 */
  TP__JSON_COUNT, /* whole, from 1 */
  TP__JSON_GROUP, /* whole, from 2 */
} tp__json_range;

/* Reads the value at hand into `to`. */
typedef tp_status (*tp__json_read)(tp__json_reader *r, json_t *value, void *to);

/* A key of an object. */
typedef struct tp__json_field {
  const char *key;
  bool optional;  /* where it is missing, `number` or `to` stays */
  double *number; /* the value is a number in `range`, and goes here. NULL: `read` reads it */
  tp__json_range range;
  tp__json_read read;
  void *to;
} tp__json_field;

/* The value at hand is an object that has no other keys than these n; they are read in their order.
 * `what`: what was expected. */
tp_status tp__json_object(tp__json_reader *r, json_t *value, const char *what, int n,
                          const tp__json_field *fields);
/* One key of the object at hand, before one looks at the others. */
tp_status tp__json_member(tp__json_reader *r, const json_t *object, const tp__json_field *field);
/* The value at hand is a list; each item is the value at hand of `read`. */
tp_status tp__json_list(tp__json_reader *r, json_t *value, const char *what, tp__json_read read,
                        void *to);
/* The same of 1 to `most` items, called `items` in the message. */
tp_status tp__json_short_list(tp__json_reader *r, json_t *value, const char *what, int most,
                              const char *items, tp__json_read read, void *to);

#endif
