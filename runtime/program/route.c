/* Exchanges rows whose owners are known at run time: every rank knows all positions and groups, so
 * it finds out what it sends and receives without asking others. Rows are packed for each peer in
 * the order of their numbers, sent by one all_to_all_v, and applied in the order of their numbers,
 * so that sums are those of one device. */
#include "program/route.h"

#include <string.h>

typedef struct exchange {
  const tprt__route *route;
  const tprt__route_tensors *tensors;
  const tprt__dtype_info *type;
  size_t row_bytes;
  int n_ranks, rank;
  int64_t n_items;
  /* The side of groups: ranks in the order of their rows, which the axes of parts come last in;
   * first row of each of them, and one more */
  int64_t n_parts, *order, *bounds;
  int64_t *send_counts, *recv_counts; /* rows for and from each rank; 0 for this one */
  int64_t *send_next, *recv_next;     /* next row in the packed rows */
  char *packed, *received;
} exchange;

void tprt__route_memory_free(tprt__route_memory *scratch) {
  tprt__free_aligned(scratch->memory);
  *scratch = (tprt__route_memory){0};
}

static tprt_status reserve(tprt__route_memory *scratch, size_t bytes) {
  if (bytes <= scratch->bytes)
    return TPRT_OK;
  void *memory;
  tprt_status status = tprt__alloc_aligned(bytes, &memory);
  if (status)
    return status;
  tprt__free_aligned(scratch->memory);
  *scratch = (tprt__route_memory){memory, bytes};
  return TPRT_OK;
}

static int64_t number_at(const void *numbers, tprt_dtype type, int64_t i) {
  return type == TPRT_I32 ? ((const int32_t *)numbers)[i] : ((const int64_t *)numbers)[i];
}

static int64_t limited(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* Finds the order of the ranks on the side of groups. */
static void find_order(exchange *e) {
  const tprt__route *r = e->route;
  e->n_parts = 1;
  for (int i = 0; i < r->n_axes; i++)
    e->n_parts *= r->part_axes >> i & 1 ? r->sizes[i] : 1;
  for (int rank = 0; rank < e->n_ranks; rank++) {
    int64_t holder = 0, part = 0, behind = e->n_ranks; /* ranks with the same coordinates so far */
    for (int i = 0; i < r->n_axes; i++) {
      int64_t *number = r->part_axes >> i & 1 ? &part : &holder, before = behind;
      behind /= r->sizes[i];
      *number = *number * r->sizes[i] + rank % before / behind;
    }
    e->order[r->n_axes ? holder * e->n_parts + part : rank] = rank;
  }
}

/* Finds the rows of each rank on the side of groups. */
static tprt_status find_bounds(exchange *e) {
  const tprt__route *r = e->route;
  int64_t behind = 0, per_holder = r->n_groups * e->n_parts / e->n_ranks, n = e->n_parts;
  for (int64_t g = 0; g < r->n_groups; g++) {
    int64_t start = number_at(e->tensors->starts, r->groups, g),
            end = number_at(e->tensors->ends, r->groups, g);
    bool follows = g == 0 ? start >= 0 : start == behind;
    if (!follows || end < start)
      return tprt__fail(TPRT_INVALID_STATE,
                        "group %lld has rows %lld to %lld, but the groups before it end at row "
                        "%lld: sizes of groups must not be negative, nor their sum overflow",
                        (long long)g, (long long)start, (long long)end, (long long)behind);
    behind = end;
    if (g % per_holder == 0)
      e->bounds[g / per_holder * n] = limited(start, 0, r->group_rows);
  }
  e->bounds[0] = 0;
  e->bounds[e->n_ranks] = r->group_rows;
  for (int64_t i = 0; i < e->n_ranks; i++) {
    int64_t first = e->bounds[i - i % n], rows = e->bounds[i - i % n + n] - first;
    if (i % n != 0)
      e->bounds[i] = first + rows * (i % n) / n;
  }
  return TPRT_OK;
}

/* The rank that has a row on one side, and the row's place in its tensor. */
static int rank_of(const exchange *e, bool in_groups, int64_t row, int64_t *place) {
  *place = row;
  if (!in_groups) {
    *place = row % e->route->block;
    return (int)(row / e->route->block);
  }
  int low = 0, high = e->n_ranks - 1; /* the last rank whose first row is not behind `row` */
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (e->bounds[middle] <= row)
      low = middle;
    else
      high = middle - 1;
  }
  return (int)e->order[low];
}

/* One row that travels. */
typedef struct travel {
  int from, to;
  int64_t source, destination; /* places in the tensors of these ranks */
} travel;

/* False if the row goes nowhere. */
static bool item_of(const exchange *e, int64_t i, travel *item) {
  const tprt__route *r = e->route;
  int64_t position = number_at(e->tensors->positions, r->positions, i);
  bool gathers = r->form == TPRT_ROUTE_GATHER;
  /* the side that positions count: the rows that a gather reads, or that a scatter writes */
  bool in_groups = gathers != r->to_groups;
  int64_t n = in_groups ? r->group_rows : r->block_rows;
  if (gathers)
    position = limited(position, 0, n - 1);
  else if (position < 0 || position >= n)
    return false;
  item->from = rank_of(e, !r->to_groups, gathers ? position : i, &item->source);
  item->to = rank_of(e, r->to_groups, gathers ? i : position, &item->destination);
  return true;
}

static void count_rows(exchange *e) {
  for (int64_t i = 0; i < e->n_items; i++) {
    travel it;
    if (!item_of(e, i, &it) || it.from == it.to)
      continue;
    e->send_counts[it.to] += it.from == e->rank;
    e->recv_counts[it.from] += it.to == e->rank;
  }
}

static int64_t first_rows(int n, const int64_t *counts, int64_t *first) {
  int64_t sum = 0;
  for (int i = 0; i < n; i++) {
    first[i] = sum;
    sum += counts[i];
  }
  return sum;
}

static void pack(exchange *e) {
  for (int64_t i = 0; i < e->n_items; i++) {
    travel it;
    if (item_of(e, i, &it) && it.from == e->rank && it.to != e->rank)
      memcpy(e->packed + (size_t)e->send_next[it.to]++ * e->row_bytes,
             (const char *)e->tensors->rows + (size_t)it.source * e->row_bytes, e->row_bytes);
  }
}

/* row += update, rounded to the type of the rows. */
static void add_row(const exchange *e, void *row, const void *update) {
  const void *sources[] = {row, update};
  tprt__reduce(e->type, TPRT_SUM, &row, 1, sources, 2, NULL, e->route->row_elements, 0);
}

static void apply(exchange *e) {
  for (int64_t i = 0; i < e->n_items; i++) {
    travel it;
    if (!item_of(e, i, &it) || it.to != e->rank)
      continue;
    const char *from = it.from == e->rank
                           ? (const char *)e->tensors->rows + (size_t)it.source * e->row_bytes
                           : e->received + (size_t)e->recv_next[it.from]++ * e->row_bytes;
    char *to = (char *)e->tensors->out + (size_t)it.destination * e->row_bytes;
    if (e->route->form == TPRT_ROUTE_ADD)
      add_row(e, to, from);
    else
      memcpy(to, from, e->row_bytes);
  }
}

/* ---- running ---- */

/* Initializes what the rows that arrive do not write. */
static void begin_result(const exchange *e) {
  const tprt__route *r = e->route;
  size_t bytes = (size_t)(r->to_groups ? r->group_rows : r->block) * e->row_bytes;
  if (bytes == 0)
    return;
  if (r->form == TPRT_ROUTE_GATHER)
    memset(e->tensors->out, 0, bytes);
  else
    memcpy(e->tensors->out, e->tensors->init, bytes);
}

static tprt_status send_rows(tprt_comm *comm, exchange *e, int64_t *offsets[2]) {
  const tprt__route *r = e->route;
  for (int i = 0; i < e->n_ranks; i++) { /* from here on, counts are elements */
    e->send_counts[i] *= r->row_elements;
    e->recv_counts[i] *= r->row_elements;
    offsets[0][i] *= r->row_elements;
    offsets[1][i] *= r->row_elements;
  }
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_TO_ALL_V, e->packed, e->received, 0, r->element, NULL);
  op.send_counts = e->send_counts;
  op.recv_counts = e->recv_counts;
  op.send_offsets = offsets[0];
  op.recv_offsets = offsets[1];
  tprt__plan plan;
  tprt_status status = tprt__plan_make(&op, e->n_ranks, e->rank, &plan);
  if (status)
    return status;
  plan.of_library = true; /* host memory, also in programs for GPUs */
  status = tprt__comm_submit(comm, &plan, tprt__deadline(tprt__comm_timeout(comm)));
  tprt__plan_clear(&plan);
  return status;
}

static tprt_status exchange_all(tprt_comm *comm, exchange *e, tprt__route_memory *scratch,
                                int64_t *offsets[2], int64_t *traffic) {
  find_order(e);
  tprt_status status = find_bounds(e);
  if (status)
    return status;
  count_rows(e);
  size_t n = (size_t)e->n_ranks;
  size_t sent = (size_t)first_rows(e->n_ranks, e->send_counts, offsets[0]) * e->row_bytes,
         received = (size_t)first_rows(e->n_ranks, e->recv_counts, offsets[1]) * e->row_bytes;
  status = reserve(scratch, sent + TPRT__LINE + received);
  if (status)
    return status;
  e->packed = scratch->memory;
  e->received = e->packed ? e->packed + (sent + TPRT__LINE - 1) / TPRT__LINE * TPRT__LINE : NULL;
  memcpy(e->send_next, offsets[0], n * sizeof *e->send_next);
  memcpy(e->recv_next, offsets[1], n * sizeof *e->recv_next);
  pack(e);
  status = send_rows(comm, e, offsets);
  if (status)
    return status;
  begin_result(e);
  apply(e);
  *traffic = (int64_t)sent;
  return TPRT_OK;
}

tprt_status tprt__route_run(tprt_comm *comm, const tprt__site *site,
                            const tprt__route_tensors *tensors, tprt__route_memory *scratch,
                            int64_t *traffic) {
  const tprt__route *r = &site->route;
  enum { N_LISTS = 8 };
  int n = tprt_comm_size(comm);
  int64_t *lists = tprt__alloc(N_LISTS * ((size_t)n + 1) * sizeof *lists);
  if (!lists)
    return tprt__fail_memory(N_LISTS * ((size_t)n + 1) * sizeof *lists);
  int64_t *list[N_LISTS];
  for (int i = 0; i < N_LISTS; i++)
    list[i] = lists + (size_t)i * ((size_t)n + 1);
  const tprt__dtype_info *type = tprt__dtype_info_get(r->element);
  bool counts_groups = (r->form == TPRT_ROUTE_GATHER) == r->to_groups;
  exchange e = {.route = r,
                .tensors = tensors,
                .type = type,
                .row_bytes = (size_t)r->row_elements * type->size,
                .n_ranks = n,
                .rank = tprt_comm_rank(comm),
                .n_items = counts_groups ? r->group_rows : r->block_rows,
                .bounds = list[0],
                .send_counts = list[1],
                .recv_counts = list[2],
                .send_next = list[3],
                .recv_next = list[4],
                .order = list[5]};
  tprt_status status = exchange_all(comm, &e, scratch, list + 6, traffic);
  tprt__free(lists);
  return status;
}
