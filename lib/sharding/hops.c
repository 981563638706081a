#include "sharding/hops.h"

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }

/* The part of `size` that one device holds: sizes are split axis by axis, each a ceil. */
static int64_t split(const tp__reading *reading, int64_t size) {
  for (int i = 0; i < reading->n_axes; i++)
    size = ceil_div(size, reading->axes[i]);
  return size;
}

static int64_t unit_of(const tp__reading *reading) { return reading->unit ? reading->unit : 1; }

/* Shards follow each other at the distance of one buffer if each axis but the first divides what the one before it leaves. */
static bool is_uniform(const tp__reading *reading) {
  int64_t size = reading->size / unit_of(reading);
  for (int i = 0; i < reading->n_axes; i++) {
    if (i > 0 && size % reading->axes[i] != 0)
      return false;
    size = ceil_div(size, reading->axes[i]);
  }
  return true;
}

/* The points of device p: where they begin, and how many there are; 0 or less in padding. */
static void points_of(const tp__reading *reading, int64_t p, int64_t *first, int64_t *count) {
  int64_t below = 1, buffer = reading->points, left = reading->points;
  for (int i = 0; i < reading->n_axes; i++)
    below *= reading->axes[i];
  *first = 0;
  for (int i = 0; i < reading->n_axes; i++) {
    below /= reading->axes[i];
    buffer = ceil_div(buffer, reading->axes[i]);
    int64_t skip = p / below % reading->axes[i] * buffer;
    *first += skip;
    left = least(left - skip, buffer);
  }
  *count = left;
}

tp__needed tp__hops_needed(const tp__reading *reading, const tp__hops *hops, int64_t p) {
  tp__needed needed = {0};
  int64_t first, count, stride = reading->stride;
  points_of(reading, p, &first, &count);
  int64_t at_first = stride * first + reading->offset;
  needed.run = stride < 0 ? at_first + stride * (hops->part - 1) : at_first;
  if (count <= 0)
    return needed;
  int64_t at_last = at_first + stride * (count - 1);
  int64_t from = greatest(0, least(at_first, at_last));
  int64_t to = least(reading->size, greatest(at_first, at_last) + reading->extent);
  if (from >= to)
    return needed;
  needed.from = from;
  needed.to = to;
  needed.owner = from / hops->buffer;
  return needed;
}

/* The device of which p has its piece 0. */
static int64_t first_owner(const tp__hops *hops, const tp__needed *needed, int64_t p) {
  return hops->by_distance ? p + hops->nearest : needed->owner;
}

int64_t tp__hops_source(const tp__hops *hops, const tp__needed *needed, int64_t p, int k) {
  int64_t owner = first_owner(hops, needed, p) + k, begin = owner * hops->buffer;
  bool overlaps = needed->from < needed->to && owner >= 0 && begin < needed->to && begin + hops->buffer > needed->from;
  return overlaps ? owner : -1;
}

int64_t tp__hops_offset(const tp__hops *hops, const tp__needed *needed, int64_t p) {
  if (needed->from == needed->to)
    return 0;
  return needed->run - first_owner(hops, needed, p) * hops->buffer - hops->low;
}

/* Extends the pieces, and the workspace, by what device p needs. False when there are too many. */
static bool add_device(tp__hops *hops, const tp__needed *needed, int64_t p, int64_t *high) {
  int64_t owner = first_owner(hops, needed, p), last = (needed->to - 1) / hops->buffer;
  if (needed->from == needed->to)
    return true;
  if (last - owner >= TP__MAX_PIECES)
    return false;
  for (int64_t q = needed->owner; q <= last; q++) {
    tp__piece *piece = &hops->pieces[q - owner];
    int64_t begin = q * hops->buffer;
    int64_t from = greatest(needed->from - begin, 0), to = least(needed->to - begin, hops->buffer);
    bool is_new = piece->from == piece->to;
    piece->from = is_new ? from : least(piece->from, from);
    piece->to = is_new ? to : greatest(piece->to, to);
    piece->moves |= q != p;
    hops->n_pieces = (int)greatest(hops->n_pieces, q - owner + 1);
  }
  int64_t at = needed->run - owner * hops->buffer;
  hops->low = least(hops->low, at);
  *high = greatest(*high, at + hops->run);
  return true;
}

static bool plan(const tp__reading *reading, bool by_distance, int64_t nearest, tp__hops *hops) {
  int64_t high = INT64_MIN;
  hops->by_distance = by_distance;
  hops->nearest = nearest;
  hops->low = INT64_MAX;
  for (int64_t p = 0; p < hops->devices; p++) {
    tp__needed needed = tp__hops_needed(reading, hops, p);
    if (!add_device(hops, &needed, p, &high))
      return false;
  }
  if (high == INT64_MIN) { /* nobody needs anything */
    hops->low = 0;
    high = hops->run;
  }
  hops->length = high - hops->low;
  for (int k = 0; k < hops->n_pieces; k++)
    if (hops->pieces[k].moves) {
      hops->n_moving++;
      hops->moved += hops->pieces[k].to - hops->pieces[k].from;
    }
  return true;
}

/* The least distance from a reader to an owner. */
static int64_t nearest_owner(const tp__reading *reading, const tp__hops *hops) {
  int64_t nearest = hops->devices;
  for (int64_t p = 0; p < hops->devices; p++) {
    tp__needed needed = tp__hops_needed(reading, hops, p);
    if (needed.from < needed.to)
      nearest = least(nearest, needed.owner - p);
  }
  return nearest;
}

static int64_t magnitude(int64_t a) { return a < 0 ? -a : a; }

/* Do all positions fit, also those of points in the padding? */
static bool positions_fit(const tp__reading *reading, const tp__hops *hops) {
  const int64_t limit = INT64_C(1) << 58;
  return reading->stride >= -limit && reading->stride <= limit && reading->offset >= -limit && reading->offset <= limit &&
         reading->size <= limit && reading->extent <= limit && reading->points <= limit &&
         magnitude(reading->stride) <= limit / (hops->devices * hops->part);
}

bool tp__plan_hops(const tp__reading *reading, tp__hops *hops) {
  int64_t unit = unit_of(reading);
  tp__hops base = {
      .devices = 1, .buffer = split(reading, reading->size / unit) * unit, .part = split(reading, reading->points)};
  for (int i = 0; i < reading->n_axes; i++)
    base.devices *= reading->axes[i];
  if (base.part == 0 || !positions_fit(reading, &base) || !is_uniform(reading))
    return false;
  base.run = magnitude(reading->stride) * (base.part - 1) + reading->extent;
  tp__hops by_distance = base, by_start = base;
  bool distance = plan(reading, true, nearest_owner(reading, &base), &by_distance);
  bool start = plan(reading, false, 0, &by_start);
  bool better = by_start.n_moving < by_distance.n_moving ||
                (by_start.n_moving == by_distance.n_moving && by_start.moved < by_distance.moved);
  if (start && (!distance || better))
    *hops = by_start;
  else
    *hops = by_distance;
  return start || distance;
}
