/* Joins result shards to whole results. Devices that hold the same shard must agree bitwise. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

typedef struct place {
  int64_t at[TP_MAX_RANK], size[TP_MAX_RANK];
} place;

static place shard_place(const tp_plan *plan, const tp_plan_value *value, int rank) {
  place p = {0};
  for (int d = 0; d < value->rank; d++)
    tp_spec_shard(&plan->mesh, value->spec, d, value->shape[d], rank, &p.at[d], &p.size[d]);
  return p;
}

static bool same_bits(const array *whole, const array *shard, const place *p) {
  array box = {0};
  int64_t zero[TP_MAX_RANK] = {0};
  array other = {0};
  bool same = array_create(&box, whole->type, whole->rank, p->size) &&
              array_create(&other, whole->type, whole->rank, p->size);
  if (same) {
    array_copy_box(whole, p->at, &box, zero, p->size);
    array_copy_box(shard, zero, &other, zero, p->size);
    same = memcmp(box.data, other.data, array_bytes(&box)) == 0;
  }
  array_clear(&box);
  array_clear(&other);
  return same;
}

static bool join(const tp_plan *plan, const launch *l, int k, array *whole) {
  const tp_plan_value *value = plan->results + k;
  if (!array_create(whole, element_find(value->element), value->rank, value->shape)) {
    complain("memory ran out");
    return false;
  }
  int64_t zero[TP_MAX_RANK] = {0};
  for (int r = 0; r < l->n_ranks; r++) {
    place p = shard_place(plan, value, r);
    int owner = 0; /* the first device with this shard */
    for (; owner < r; owner++) {
      place q = shard_place(plan, value, owner);
      if (memcmp(p.at, q.at, sizeof p.at) == 0 && memcmp(p.size, q.size, sizeof p.size) == 0)
        break;
    }
    if (owner == r) {
      array_copy_box(l->outputs[r] + k, zero, whole, p.at, p.size);
    } else if (!same_bits(whole, l->outputs[r] + k, &p)) {
      complain("result %d (%s): devices %d and %d should hold the same data, but do not", k,
               value->sharding, owner, r);
      return false;
    }
  }
  return true;
}

bool outputs_join(const tp_plan *plan, const launch *l, array **whole) {
  array *made = calloc((size_t)plan->n_results + 1, sizeof *made);
  bool ok = made != NULL;
  for (int k = 0; k < plan->n_results && ok; k++)
    ok = join(plan, l, k, made + k);
  if (ok)
    *whole = made;
  else
    arrays_clear(made, plan->n_results);
  return ok;
}
