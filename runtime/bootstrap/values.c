/* The values of a store, in a list because a job has few of them. */
#include "bootstrap/store.h"

#include <string.h>

enum { NUMBER_BYTES = 8 };

/* The limit suffices for the keys of the library and of users, and guards against a faulty rank. */
void tprt__values_start(tprt__values *values, int n_ranks) {
  *values = (tprt__values){.limit = 1024 + 64 * (size_t)tprt__store_processes(n_ranks)};
}

void tprt__values_clear(tprt__values *values) {
  while (values->first) {
    tprt__value *value = values->first;
    values->first = value->next;
    tprt__free(value);
  }
  values->n = 0;
}

const tprt__value *tprt__values_find(const tprt__values *values, const char *key) {
  const tprt__value *value = values->first;
  while (value && strcmp(value->key, key) != 0)
    value = value->next;
  return value;
}

tprt_status tprt__values_set(tprt__values *values, const char *key, const void *data,
                             size_t bytes) {
  tprt__value *value = values->first;
  while (value && strcmp(value->key, key) != 0)
    value = value->next;
  if (!value && values->n >= values->limit)
    return tprt__fail(TPRT_NO_MEMORY, "the store is full: it has %zu keys", values->n);
  if (!value) {
    value = tprt__alloc(sizeof *value);
    if (!value)
      return tprt__fail_memory(sizeof *value);
    strncpy(value->key, key, sizeof value->key - 1);
    value->next = values->first;
    values->first = value;
    values->n++;
  }
  value->bytes = bytes;
  if (bytes)
    memcpy(value->data, data, bytes);
  return TPRT_OK;
}

void tprt__values_remove(tprt__values *values, const char *key) {
  tprt__value **at = &values->first;
  while (*at && strcmp((*at)->key, key) != 0)
    at = &(*at)->next;
  if (!*at)
    return;
  tprt__value *value = *at;
  *at = value->next;
  values->n--;
  tprt__free(value);
}

tprt_status tprt__values_add(tprt__values *values, const char *key, int64_t delta, int64_t *sum) {
  const tprt__value *value = tprt__values_find(values, key);
  unsigned char bytes[NUMBER_BYTES];
  uint64_t number = 0;
  if (value && value->bytes != NUMBER_BYTES)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "the value of \"%s\" has %zu bytes and is not a number", key, value->bytes);
  for (int i = 0; value && i < NUMBER_BYTES; i++)
    number |= (uint64_t)value->data[i] << 8 * i;
  int64_t result;
  if (__builtin_add_overflow((int64_t)number, delta, &result))
    return tprt__fail(TPRT_INVALID_ARGUMENT, "\"%s\" is %lld; adding %lld overflows", key,
                      (long long)number, (long long)delta);
  for (int i = 0; i < NUMBER_BYTES; i++)
    bytes[i] = (unsigned char)((uint64_t)result >> 8 * i);
  tprt_status status = tprt__values_set(values, key, bytes, sizeof bytes);
  if (!status)
    *sum = result;
  return status;
}

tprt_status tprt__value_read(const tprt__value *value, void *data, size_t *bytes) {
  if (value->bytes > *bytes) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "the value of \"%s\" has %zu bytes; the buffer has %zu", value->key,
                      value->bytes, *bytes);
  }
  if (value->bytes)
    memcpy(data, value->data, value->bytes);
  *bytes = value->bytes;
  return TPRT_OK;
}
