/* Reads JSON values with range checks and precise messages. */
#include "sharding/topology_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- messages ---- */

static void print_path(const tp__json_reader *r, char *text, size_t size) {
  size_t length = 0;
  for (int i = 0; i < r->n_steps; i++) {
    if (r->steps[i].key)
      tp__text_printf(text, size, &length, "%s%.40s", i ? "." : "", r->steps[i].key);
    else
      tp__text_printf(text, size, &length, "[%d]", r->steps[i].index);
  }
  if (r->n_steps == 0)
    snprintf(text, size, "the file");
}

tp_status tp__json_wrong(const tp__json_reader *r, const char *format, ...) {
  enum { MAX_PATH_TEXT = 160 };
  char path[MAX_PATH_TEXT];
  size_t length = 0;
  va_list args;
  if (!r->why || r->why_size == 0)
    return TP_INVALID_ARGUMENT;
  print_path(r, path, sizeof path);
  tp__text_printf(r->why, r->why_size, &length, "%s:%d: %s: ", r->label,
                  tp__json_line(r->text, r->length, r->n_steps, r->steps), path);
  va_start(args, format);
  if (length < r->why_size)
    vsnprintf(r->why + length, r->why_size - length, format, args);
  va_end(args);
  return TP_INVALID_ARGUMENT;
}

const char *tp__json_type(const json_t *value) {
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    return "an object";
  case JSON_ARRAY:
    return "a list";
  case JSON_STRING:
    return "a text";
  case JSON_NULL:
    return "null";
  case JSON_TRUE:
  case JSON_FALSE:
    return "a truth value";
  default:
    return "a number";
  }
}

/* ---- numbers ---- */

static tp_status read_number(const tp__json_reader *r, const json_t *value, tp__json_range range,
                             double *out) {
  static const double most = 1e15;
  static const struct {
    const char *text;
    double least, most;
    bool open, whole; /* open: `least` itself is not allowed */
  } ranges[] = {
      [TP__JSON_POSITIVE] = {"a number above 0 and at most 1e15", 0, most, true, false},
      [TP__JSON_NOT_NEGATIVE] = {"a number from 0 to 1e15", 0, most, false, false},
      [TP__JSON_PART] = {"a number from 0 to 1", 0, 1, false, false},
      [TP__JSON_SHARE] = {"a number above 0 and at most 1", 0, 1, true, false},
      [TP__JSON_COUNT] = {"a whole number from 1 to 1e15", 1, most, false, true},
      [TP__JSON_GROUP] = {"a whole number of devices, from 2 to 2147483647", 2, 2147483647, false,
                          true},
  };
  if (!json_is_number(value))
    return tp__json_wrong(r, "expected %s, found %s", ranges[range].text, tp__json_type(value));
  double x = json_number_value(value);
  if (!(x >= ranges[range].least && x <= ranges[range].most) ||
      (ranges[range].open && x == ranges[range].least) || (ranges[range].whole && x != floor(x)))
    return tp__json_wrong(r, "expected %s, found %.9g", ranges[range].text, x);
  *out = x;
  return TP_OK;
}

/* ---- objects and lists ---- */

static void step_in(tp__json_reader *r, const char *key, int index) {
  r->steps[r->n_steps++] = (tp__json_step){key, index};
}
static void step_out(tp__json_reader *r) { r->n_steps--; }

static tp_status check_type(const tp__json_reader *r, const json_t *value, json_type type,
                            const char *what) {
  return json_typeof(value) == type
             ? TP_OK
             : tp__json_wrong(r, "expected %s, found %s", what, tp__json_type(value));
}

static tp_status check_keys(tp__json_reader *r, json_t *object, int n,
                            const tp__json_field *fields) {
  enum { MAX_KEYS = 32 };
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value) {
    bool known = false;
    for (int i = 0; i < n; i++)
      known |= strcmp(key, fields[i].key) == 0;
    if (known)
      continue;
    char list[256] = "";
    const char *names[MAX_KEYS];
    size_t length = 0;
    for (int i = 0; i < n; i++)
      tp__text_printf(list, sizeof list, &length, "%s%s", i ? ", " : "", fields[i].key);
    for (int i = 0; i < n && i < MAX_KEYS; i++)
      names[i] = fields[i].key;
    const char *closest = tp__closest_word(key, strlen(key), n < MAX_KEYS ? n : MAX_KEYS, names);
    step_in(r, key, 0);
    return tp__json_wrong(r, "unknown key%s%s%s; known are %s", closest ? " (did you mean \"" : "",
                          closest ? closest : "", closest ? "\"?)" : "", list);
  }
  return TP_OK;
}

tp_status tp__json_member(tp__json_reader *r, const json_t *object, const tp__json_field *field) {
  json_t *value = json_object_get(object, field->key);
  if (!value)
    return field->optional ? TP_OK : tp__json_wrong(r, "the key \"%s\" is missing", field->key);
  step_in(r, field->key, 0);
  tp_status status = field->number ? read_number(r, value, field->range, field->number)
                                   : field->read(r, value, field->to);
  step_out(r);
  return status;
}

tp_status tp__json_object(tp__json_reader *r, json_t *value, const char *what, int n,
                          const tp__json_field *fields) {
  TP_TRY(check_type(r, value, JSON_OBJECT, what));
  TP_TRY(check_keys(r, value, n, fields));
  for (int i = 0; i < n; i++)
    TP_TRY(tp__json_member(r, value, &fields[i]));
  return TP_OK;
}

tp_status tp__json_list(tp__json_reader *r, json_t *value, const char *what, tp__json_read read,
                        void *to) {
  tp_status status = check_type(r, value, JSON_ARRAY, what);
  for (size_t i = 0; i < json_array_size(value) && status == TP_OK; i++) {
    step_in(r, NULL, (int)i);
    status = read(r, json_array_get(value, i), to);
    step_out(r);
  }
  return status;
}

tp_status tp__json_short_list(tp__json_reader *r, json_t *value, const char *what, int most,
                              const char *items, tp__json_read read, void *to) {
  size_t n = json_array_size(value);
  if (json_is_array(value) && (n == 0 || n > (size_t)most))
    return tp__json_wrong(r, "expected 1 to %d %s, found %zu", most, items, n);
  return tp__json_list(r, value, what, read, to);
}
