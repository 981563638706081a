/* The table of hints, and the configuration of communicators. */
#include "base/hints.h"

#include "base/closest.h"
#include "base/env.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
  OF_OP = TPRT__HINT_OF_OP,
  AT_CREATION = TPRT__HINT_AT_CREATION,
  LATER = TPRT__HINT_LATER,
  ANYWHERE = OF_OP | AT_CREATION | LATER,
};

static const struct {
  const char *key, *type;
  unsigned places;
  const char *help;
} table[TPRT__N_HINTS] = {
    [TPRT__HINT_TIMEOUT] = {"timeout", "seconds", ANYWHERE,
                            "deadline of operations, counted from submission"},
    [TPRT__HINT_DETERMINISTIC] =
        {"deterministic", "switch", ANYWHERE,
         "1: reductions add floats in the order of the ranks, on every backend and on "
         "any number of hosts"},
    [TPRT__HINT_NAN_CHECK] = {"nan_check", "switch", AT_CREATION | LATER,
                              "1: a NaN in the data that a rank sends fails the operation"},
    [TPRT__HINT_FLIGHT] = {"flight", "int", AT_CREATION | LATER,
                           "operations that the flight recorder keeps"},
    [TPRT__HINT_PRIORITY] = {"priority", "priority", AT_CREATION,
                             "priority of the stream of operations that name none"},
    [TPRT__HINT_TRAFFIC_CLASS] = {"traffic_class", "class", AT_CREATION,
                                  "quality of service in the network"},
    [TPRT__HINT_MIN_CTAS] = {"min_ctas", "count", AT_CREATION,
                             "least number of thread blocks of a collective"},
    [TPRT__HINT_MAX_CTAS] = {"max_ctas", "count", AT_CREATION,
                             "largest number of thread blocks of a collective"},
    [TPRT__HINT_DEVICE] = {"device", "int", AT_CREATION, "CUDA device of the rank"},
    [TPRT__HINT_INDEPENDENT] = {"independent", "switch", OF_OP,
                                "1: may run together with others of its batch that have it"},
};

const char *tprt_hint_key(size_t i, const char **type, const char **help) {
  if (i >= TPRT__N_HINTS)
    return NULL;
  if (type)
    *type = table[i].type;
  if (help)
    *help = table[i].help;
  return table[i].key;
}

static tprt_status fail_unknown(const char *key, unsigned place) {
  const char *keys[TPRT__N_HINTS];
  char known[256] = "";
  for (size_t i = 0; i < TPRT__N_HINTS; i++) {
    keys[i] = table[i].places & place ? table[i].key : NULL;
    size_t n = strlen(known);
    if (keys[i])
      snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", keys[i]);
  }
  const char *closest = tprt__closest_word(key, keys, TPRT__N_HINTS);
  return tprt__fail(TPRT_INVALID_ARGUMENT, "there is no hint \"%s\"; %s%s%s", key,
                    closest ? "did you mean " : "known: ", closest ? closest : known,
                    closest ? "?" : "");
}

tprt_status tprt__hint_read(const char *key, const char *value, unsigned place, tprt__hint *hint,
                            int64_t *number) {
  if (!key || !value)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "hint \"%s\": the %s is NULL", key ? key : "",
                      key ? "value" : "key");
  size_t i = 0;
  while (i < TPRT__N_HINTS && strcmp(table[i].key, key) != 0)
    i++;
  if (i == TPRT__N_HINTS)
    return fail_unknown(key, place);
  if (!(table[i].places & place))
    return table[i].places == OF_OP
               ? tprt__fail(TPRT_INVALID_ARGUMENT,
                            "hint %s is one of an operation, in tprt_op.hints", key)
               : tprt__fail(TPRT_INVALID_ARGUMENT,
                            "hint %s is set when a communicator is created, in "
                            "tprt_comm_config.hints%s",
                            key, table[i].places & LATER ? ", or with tprt_comm_set_hint" : "");
  *hint = (tprt__hint)i;
  return tprt__parse(table[i].type, "hint", key, value, number);
}

tprt_status tprt__hints_read(const tprt_hint *hints, size_t n, const char *owner, unsigned place,
                             int64_t *numbers, uint32_t *given) {
  if (n && !hints)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s has %zu hint%s at NULL", owner, n,
                      n == 1 ? "" : "s");
  for (size_t i = 0; i < n; i++) {
    tprt__hint hint;
    int64_t number;
    tprt_status status = tprt__hint_read(hints[i].key, hints[i].value, place, &hint, &number);
    if (status)
      return status;
    numbers[hint] = number;
    *given |= 1u << hint;
  }
  return TPRT_OK;
}

static tprt_status read_hints(const tprt_comm_config *config, tprt__comm_settings *settings) {
  tprt_status status = tprt__hints_read(config->hints, config->n_hints, "tprt_comm_config",
                                        AT_CREATION, settings->hints, &settings->given);
  if (status)
    return status;
  int64_t least = settings->hints[TPRT__HINT_MIN_CTAS], most = settings->hints[TPRT__HINT_MAX_CTAS];
  if (least > 0 && most > 0 && least > most)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "hint min_ctas is %lld, but max_ctas is %lld",
                      (long long)least, (long long)most);
  return TPRT_OK;
}

static tprt_status copy_text(const char *field, const char *from, char *to, size_t n) {
  if (!from)
    return TPRT_OK;
  if (strlen(from) >= n)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "tprt_comm_config.%s has %zu bytes; at most %zu are allowed", field,
                      strlen(from), n - 1);
  snprintf(to, n, "%s", from);
  return TPRT_OK;
}

tprt_status tprt__comm_settings_apply(const tprt_comm_config *config, const char *name,
                                      tprt__comm_settings *settings) {
  tprt_comm_config own = {.size = sizeof own};
  tprt_status status =
      config ? tprt__struct_copy(&own, sizeof own, config, "tprt_comm_config") : TPRT_OK;
  settings->given = 0;
  settings->stream = own.stream;
  snprintf(settings->name, sizeof settings->name, "%s", name);
  if (status || !config)
    return status;
  if (own.version < 1 || own.version > TPRT_COMM_CONFIG_VERSION)
    return tprt__fail(own.version ? TPRT_UNSUPPORTED : TPRT_INVALID_ARGUMENT,
                      "tprt_comm_config.version is %u; this library knows 1 to %d", own.version,
                      TPRT_COMM_CONFIG_VERSION);
  if ((unsigned)own.on_failure > TPRT_FAILURE_ABORT)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "tprt_comm_config.on_failure is %d; it must be a tprt_failure_policy",
                      (int)own.on_failure);
  if (own.on_failure)
    settings->aborts = own.on_failure == TPRT_FAILURE_ABORT;
  status = copy_text("name", own.name, settings->name, sizeof settings->name);
  if (!status)
    status =
        copy_text("flight_dir", own.flight_dir, settings->flight_dir, sizeof settings->flight_dir);
  if (!status && own.flight_dir && *own.flight_dir)
    status = tprt__flight_dir_check("tprt_comm_config.flight_dir", own.flight_dir);
  return status ? status : read_hints(&own, settings);
}

tprt_status tprt__flight_dir_check(const char *what, const char *path) {
  return access(path, W_OK | X_OK) == 0
             ? TPRT_OK
             : tprt__fail(TPRT_INVALID_ARGUMENT,
                          "%s is \"%s\", into which nothing can be written: %s", what, path,
                          strerror(errno));
}

void tprt__hint_print(tprt__hint hint, int64_t value, char *text, size_t n) {
  static const char *const priorities[] = {
      [TPRT__LOW] = "low", [TPRT__NORMAL] = "normal", [TPRT__HIGH] = "high"};
  if (hint == TPRT__HINT_TIMEOUT)
    snprintf(text, n, "%.9g", (double)value / 1e9);
  else if (hint == TPRT__HINT_PRIORITY)
    snprintf(text, n, "%s", priorities[value]);
  else
    snprintf(text, n, "%lld", (long long)value);
}
