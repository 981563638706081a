/* The table of registered rules. It is process-wide, because op names are. Lookup is a linear scan,
 * because embedders register few rules. */
#include "rules/rule_registry.h"

#include "support/support.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static tp_rule_registration *table;
static size_t n_rules, capacity;

static int find(MlirStringRef op) {
  for (size_t i = 0; i < n_rules; i++)
    if (tp__ref_is(op, table[i].op))
      return (int)i;
  return -1;
}

bool tp__registered_rule(MlirStringRef op, tp_rule_registration *registration) {
  pthread_mutex_lock(&mutex);
  int i = find(op);
  if (i >= 0)
    *registration = table[i];
  pthread_mutex_unlock(&mutex);
  return i >= 0;
}

static void release(tp_rule_registration *r) {
  tp__free((char *)(uintptr_t)r->op);
  tp__free((char *)(uintptr_t)r->rule);
}

/* The caller holds the mutex. On success, takes ownership of the strings of `copy`. */
static tp_status add(const tp_rule_registration *copy, char *why, size_t why_size) {
  if (find(tp__ref(copy->op)) >= 0) {
    snprintf(why, why_size, "'%s' has a registered rule already; unregister it first", copy->op);
    return TP_INVALID_ARGUMENT;
  }
  if (tp__grow((void **)&table, &capacity, n_rules + 1, sizeof *table) != TP_OK)
    return TP_NO_MEMORY;
  table[n_rules++] = *copy;
  return TP_OK;
}

static tp_status check(const tp_rule_registration *r, char *why, size_t why_size) {
  char reason[256];
  if (!r || r->size != sizeof *r || !r->op || !strchr(r->op, '.')) {
    snprintf(why, why_size,
             "a registration must set its size and the full name of an op, such as \"my.matmul\"");
    return TP_INVALID_ARGUMENT;
  }
  if (!r->rule == !r->describe) {
    snprintf(why, why_size, "'%s' sets %s of rule and describe; set exactly one", r->op,
             r->rule ? "both" : "neither");
    return TP_INVALID_ARGUMENT;
  }
  tp_rule_text text;
  if (!r->rule || tp__rule_text_parse(r->rule, &text, reason, sizeof reason) == TP_OK)
    return TP_OK;
  snprintf(why, why_size, "the rule of '%s': %s", r->op, reason);
  return TP_INVALID_ARGUMENT;
}

tp_status tp_rule_register(const tp_rule_registration *registration, char *why, size_t why_size) {
  char ignored[1];
  if (!why) {
    why = ignored;
    why_size = sizeof ignored;
  }
  tp_status status = check(registration, why, why_size);
  if (status != TP_OK)
    return status;
  tp_rule_registration copy = *registration;
  copy.op = tp__strdup(registration->op);
  copy.rule = registration->rule ? tp__strdup(registration->rule) : NULL;
  if (!copy.op || (registration->rule && !copy.rule)) {
    status = TP_NO_MEMORY;
  } else {
    pthread_mutex_lock(&mutex);
    status = add(&copy, why, why_size);
    pthread_mutex_unlock(&mutex);
  }
  if (status == TP_NO_MEMORY)
    snprintf(why, why_size, "out of memory");
  if (status != TP_OK)
    release(&copy);
  return status;
}

tp_status tp_rule_unregister(const char *op) {
  pthread_mutex_lock(&mutex);
  int i = op ? find(tp__ref(op)) : -1;
  if (i >= 0) {
    release(&table[i]);
    table[i] = table[--n_rules];
  }
  if (n_rules == 0) {
    tp__free(table);
    table = NULL;
    capacity = 0;
  }
  pthread_mutex_unlock(&mutex);
  return i >= 0 ? TP_OK : TP_NOT_FOUND;
}
