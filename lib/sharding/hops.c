/* Plans hops: sizes and owners of shards, pieces, and the workspace. */
#include "sharding/hops.h"

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

/* Returns the part of `size` that one device holds. Sizes are split axis by axis, each rounded
 * up. */
static int64_t split(const tp__window_read *reading, int64_t size) {
  for (int i = 0; i < reading->n_axes; i++)
    size = ceil_div(size, reading->axes[i]);
  return size;
}

static int64_t unit_of(const tp__window_read *reading) { return reading->unit ? reading->unit : 1; }

/* Returns the start and the count of part number p of `size`. The count is 0 or negative in
 * padding. */
static void part_of(const tp__window_read *reading, int64_t size, int64_t p, int64_t *begin,
                    int64_t *count) {
  int64_t below = 1, buffer = size, left = size;
  for (int i = 0; i < reading->n_axes; i++)
    below *= reading->axes[i];
  *begin = 0;
  for (int i = 0; i < reading->n_axes; i++) {
    below /= reading->axes[i];
    buffer = ceil_div(buffer, reading->axes[i]);
    int64_t skip = p / below % reading->axes[i] * buffer;
    *begin += skip;
    left = min_i64(left - skip, buffer);
  }
  *count = left;
}

/* Returns the first element of device q and its number of valid elements. Devices beyond both ends
 * count as devices without elements, but those of a cyclic reading are the devices of the next
 * round. The valid elements of a device end before the first element of every later device. */
static int64_t begin_of(const tp__hops *hops, int64_t q, int64_t *count) {
  const tp__window_read *reading = &hops->reading;
  int64_t unit = unit_of(reading), begin, round = reading->cyclic ? q / hops->devices : 0;
  q -= round * hops->devices;
  int64_t inside = q < 0 ? 0 : min_i64(q, hops->devices - 1);
  part_of(reading, reading->size / unit, inside, &begin, count);
  *count = q == inside ? max_i64(*count, 0) * unit : 0;
  return round * reading->size + begin * unit + (q - inside) * hops->buffer;
}

static int64_t distance_of(const tp__hops *hops, int64_t from, int64_t to) {
  int64_t count;
  return begin_of(hops, to, &count) - begin_of(hops, from, &count);
}

/* Returns the device that owns element x. */
static int64_t owner_of(const tp__hops *hops, int64_t x) {
  const tp__window_read *reading = &hops->reading;
  int64_t unit = unit_of(reading), buffer = reading->size / unit, q = 0,
          round = reading->cyclic ? x / reading->size : 0;
  x = (x - round * reading->size) / unit;
  for (int i = 0; i < reading->n_axes; i++) {
    buffer = ceil_div(buffer, reading->axes[i]);
    q = q * reading->axes[i] + x / buffer;
    x %= buffer;
  }
  return round * hops->devices + q;
}

tp__read_range tp__hops_needed(const tp__hops *hops, int64_t p) {
  const tp__window_read *reading = &hops->reading;
  tp__read_range needed = {0};
  int64_t first, count, stride = reading->stride;
  part_of(reading, reading->points, p, &first, &count);
  int64_t at_first = stride * first + reading->offset;
  needed.run = stride < 0 ? at_first + stride * (hops->part - 1) : at_first;
  if (count <= 0)
    return needed;
  int64_t at_last = at_first + stride * (count - 1);
  int64_t from = min_i64(at_first, at_last), to = max_i64(at_first, at_last) + reading->extent;
  if (!reading->cyclic) {
    from = max_i64(0, from);
    to = min_i64(reading->size, to);
  }
  if (from >= to)
    return needed;
  needed.from = from;
  needed.to = to;
  needed.owner = owner_of(hops, from);
  return needed;
}

/* Returns the device that provides piece 0 of p. */
static int64_t first_owner(const tp__hops *hops, const tp__read_range *needed, int64_t p) {
  const int64_t owners[] = {
      [TP__BY_DISTANCE] = p + hops->nearest, [TP__BY_START] = needed->owner, [TP__BY_GATHER] = 0};
  return owners[hops->by];
}

/* Returns the device of this number, which may belong to a later round of a cyclic reading. */
static int64_t device_of(const tp__hops *hops, int64_t q) {
  return hops->reading.cyclic ? q % hops->devices : q;
}

int64_t tp__hops_source(const tp__hops *hops, const tp__read_range *needed, int64_t p, int k) {
  int64_t owner = first_owner(hops, needed, p) + k, count, begin = begin_of(hops, owner, &count);
  bool overlaps =
      needed->from < needed->to && count > 0 && begin < needed->to && begin + count > needed->from;
  return overlaps ? device_of(hops, owner) : -1;
}

int64_t tp__hops_place(const tp__hops *hops, const tp__read_range *needed, int64_t p, int k) {
  int64_t owner = first_owner(hops, needed, p);
  return distance_of(hops, owner, owner + k) + hops->pieces[k].from - hops->low;
}

int64_t tp__hops_offset(const tp__hops *hops, const tp__read_range *needed, int64_t p) {
  int64_t count;
  if (needed->from == needed->to)
    return 0;
  return needed->run - begin_of(hops, first_owner(hops, needed, p), &count) - hops->low;
}

/* ---- planning ---- */

/* Extends the pieces by the needs of device p. False if there are too many. */
static bool add_pieces(tp__hops *hops, int64_t p) {
  tp__read_range needed = tp__hops_needed(hops, p);
  if (needed.from == needed.to)
    return true;
  int64_t owner = first_owner(hops, &needed, p), last = owner_of(hops, needed.to - 1);
  if (last - owner >= TP__MAX_PIECES)
    return false;
  for (int64_t q = needed.owner; q <= last; q++) {
    int64_t count, begin = begin_of(hops, q, &count);
    int64_t from = max_i64(needed.from - begin, 0), to = min_i64(needed.to - begin, count);
    tp__hop_piece *piece = &hops->pieces[q - owner];
    if (count == 0) /* a major axis that does not divide leaves empty shards in between */
      continue;
    bool is_new = piece->from == piece->to;
    piece->from = is_new ? from : min_i64(piece->from, from);
    piece->to = is_new ? to : max_i64(piece->to, to);
    piece->moves |= device_of(hops, q) != p;
    hops->n_pieces = (int)max_i64(hops->n_pieces, q - owner + 1);
  }
  return true;
}

/* Extends the workspace, from `low` to `high`, by the run of device p and the positions of its
 * pieces. */
static void add_places(const tp__hops *hops, int64_t p, int64_t *low, int64_t *high) {
  tp__read_range needed = tp__hops_needed(hops, p);
  if (needed.from < needed.to) {
    int64_t at = tp__hops_offset(hops, &needed, p);
    *low = min_i64(*low, at);
    *high = max_i64(*high, at + hops->run);
  }
  for (int k = 0; k < hops->n_pieces; k++) {
    const tp__hop_piece *piece = &hops->pieces[k];
    int64_t at = tp__hops_place(hops, &needed, p, k);
    if (piece->from == piece->to)
      continue;
    *low = min_i64(*low, at);
    *high = max_i64(*high, at + piece->to - piece->from);
  }
}

/* Computes the workspace and the communication from the pieces. */
static void finish(tp__hops *hops) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int64_t p = 0; p < hops->devices; p++)
    add_places(hops, p, &low, &high);
  if (low > high) /* no device needs anything */
    low = 0, high = hops->run;
  hops->low = low;
  hops->length = high - low;
  for (int k = 0; k < hops->n_pieces; k++)
    if (hops->pieces[k].moves) {
      hops->n_moving++;
      hops->moved += hops->pieces[k].to - hops->pieces[k].from;
    }
}

static bool plan_pieces(tp__hops *hops, tp__hops_by by, int64_t nearest) {
  hops->by = by;
  hops->nearest = nearest;
  for (int64_t p = 0; p < hops->devices; p++)
    if (!add_pieces(hops, p))
      return false;
  finish(hops);
  return true;
}

static void plan_gather(tp__hops *hops) {
  hops->by = TP__BY_GATHER;
  hops->n_pieces = 1;
  hops->pieces[0] = (tp__hop_piece){.to = hops->reading.size, .moves = true};
  finish(hops);
  hops->moved = (hops->devices - 1) * hops->buffer;
}

/* Returns the minimum signed distance from a reader to its owner. */
static int64_t nearest_owner(const tp__hops *hops) {
  int64_t nearest = hops->devices;
  for (int64_t p = 0; p < hops->devices; p++) {
    tp__read_range needed = tp__hops_needed(hops, p);
    if (needed.from < needed.to)
      nearest = min_i64(nearest, needed.owner - p);
  }
  return nearest;
}

static int64_t magnitude(int64_t a) { return a < 0 ? -a : a; }

/* True if no position can overflow, including those of points in the padding. */
static bool positions_fit(const tp__hops *hops) {
  const int64_t limit = INT64_C(1) << 58;
  const tp__window_read *reading = &hops->reading;
  return reading->stride >= -limit && reading->stride <= limit && reading->offset >= -limit &&
         reading->offset <= limit && reading->size <= limit && reading->extent <= limit &&
         reading->points <= limit &&
         magnitude(reading->stride) <= limit / (hops->devices * hops->part);
}

static bool is_better(const tp__hops *a, const tp__hops *b) {
  return a->n_moving < b->n_moving || (a->n_moving == b->n_moving && a->moved < b->moved);
}

bool tp__plan_hops(const tp__window_read *reading, tp__hops *hops) {
  int64_t unit = unit_of(reading);
  tp__hops base = {.reading = *reading,
                   .devices = 1,
                   .buffer = split(reading, reading->size / unit) * unit,
                   .part = split(reading, reading->points)};
  for (int i = 0; i < reading->n_axes; i++)
    base.devices *= reading->axes[i];
  if (base.part == 0 || !positions_fit(&base))
    return false;
  base.run = magnitude(reading->stride) * (base.part - 1) + reading->extent;
  tp__hops by_distance = base, by_start = base, gathered = base;
  bool distance = plan_pieces(&by_distance, TP__BY_DISTANCE, nearest_owner(&base));
  bool start = plan_pieces(&by_start, TP__BY_START, 0);
  *hops = start && (!distance || is_better(&by_start, &by_distance)) ? by_start : by_distance;
  if (unit > 1 || reading->cyclic)
    return start || distance;
  plan_gather(&gathered);
  if (!(start || distance) || (hops->n_moving > 1 && hops->moved >= gathered.moved))
    *hops = gathered;
  return true;
}
