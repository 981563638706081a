/* Tests the plans of hops, which fetch the elements that devices read along a sharded dimension. */
#include "sharding/hops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { NOTHING = -1, MAX_LENGTH = 4096 };

/* Returns element j of part p if `size` is split axis by axis; NOTHING in padding. */
static int64_t number_in(const tp__window_read *reading, int64_t size, int64_t p, int64_t j) {
  int64_t below = 1, buffer = size, first = 0, left = size;
  for (int i = 0; i < reading->n_axes; i++)
    below *= reading->axes[i];
  for (int i = 0; i < reading->n_axes; i++) {
    below /= reading->axes[i];
    buffer = (buffer + reading->axes[i] - 1) / reading->axes[i];
    int64_t skip = p / below % reading->axes[i] * buffer;
    first += skip;
    left = left - skip < buffer ? left - skip : buffer;
  }
  return j < left ? first + j : NOTHING;
}

/* Returns the global element that device q has at position x of its buffer. */
static int64_t element_of(const tp__window_read *reading, int64_t q, int64_t x) {
  int64_t unit = reading->unit ? reading->unit : 1,
          number = number_in(reading, reading->size / unit, q, x / unit);
  return number == NOTHING ? NOTHING : number * unit + x % unit;
}

/* Computes the contents of device p's run after the plan is executed: elements, or NOTHING. A piece
 * without a sender is written like any other. */
static void carry_out(const tp__hops *hops, int64_t p, int64_t *run) {
  int64_t workspace[MAX_LENGTH];
  tp__read_range needed = tp__hops_needed(hops, p);
  int64_t offset = tp__hops_offset(hops, &needed, p);
  assert_in_range(hops->length, 0, MAX_LENGTH);
  for (int64_t x = 0; x < hops->length; x++)
    workspace[x] = NOTHING;
  for (int k = 0; k < hops->n_pieces; k++) {
    const tp__hop_piece *piece = &hops->pieces[k];
    bool gathers = hops->by == TP__BY_GATHER;
    int64_t source = gathers ? 0 : tp__hops_source(hops, &needed, p, k),
            place = tp__hops_place(hops, &needed, p, k);
    assert_true(0 <= piece->from && piece->from <= piece->to);
    assert_true(piece->to <= (gathers ? hops->reading.size : hops->buffer));
    assert_true(source < hops->devices);
    if (!piece->moves && source >= 0)
      assert_int_equal(source, p);
    for (int64_t x = piece->from; x < piece->to; x++) {
      int64_t at = place + x - piece->from;
      assert_in_range(at, 0, hops->length - 1);
      workspace[at] = gathers ? x : source >= 0 ? element_of(&hops->reading, source, x) : NOTHING;
    }
  }
  assert_true(offset >= 0 && offset + hops->run <= hops->length);
  memcpy(run, workspace + offset, (size_t)hops->run * sizeof *run);
}

/* Returns true if every valid point finds every in-bounds element of its window; false if there is
 * no plan. */
static bool works(const tp__window_read *reading) {
  tp__hops hops;
  if (!tp__plan_hops(reading, &hops))
    return false;
  for (int64_t p = 0; p < hops.devices; p++) {
    int64_t run[MAX_LENGTH];
    carry_out(&hops, p, run);
    for (int64_t j = 0; j < hops.part; j++) {
      int64_t point = number_in(reading, reading->points, p, j),
              step = reading->stride < 0 ? -reading->stride : reading->stride;
      int64_t at = step * (reading->stride < 0 ? hops.part - 1 - j : j);
      for (int64_t k = 0; k < reading->extent && point != NOTHING; k++) {
        int64_t element = reading->stride * point + reading->offset + k;
        if (reading->cyclic)
          element %= reading->size;
        if (element >= 0 && element < reading->size)
          assert_int_equal(run[at + k], element);
      }
    }
  }
  return true;
}

static void brings_every_element(void **state) {
  (void)state;
  static const struct {
    int n;
    int64_t axes[3];
  } groups[] = {{1, {1}},    {1, {2}},    {1, {3}},    {1, {4}},    {1, {7}},
                {2, {2, 2}}, {2, {2, 3}}, {2, {3, 2}}, {2, {2, 4}}, {3, {2, 2, 3}}};
  static const int64_t sizes[] = {1, 2, 3, 5, 8, 12, 13}, strides[] = {-3, -1, 0, 1, 2, 5},
                       extents[] = {1, 2, 3, 9};
  for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
      for (int64_t points = 1; points <= 9; points += 2)
        for (size_t t = 0; t < sizeof strides / sizeof strides[0]; t++)
          for (size_t e = 0; e < sizeof extents / sizeof extents[0]; e++)
            for (int64_t offset = -4; offset <= 12; offset += 4) {
              tp__window_read reading = {
                  .n_axes = groups[g].n,
                  .axes = {groups[g].axes[0], groups[g].axes[1], groups[g].axes[2]},
                  .size = sizes[s],
                  .points = points,
                  .stride = strides[t],
                  .offset = offset,
                  .extent = extents[e]};
              assert_true(works(&reading));
              reading.unit = 2, reading.size *= 2;
              assert_true(works(&reading));
            }
}

static void brings_every_rotated_element(void **state) {
  (void)state;
  static const struct {
    int n;
    int64_t axes[3];
  } groups[] = {{1, {2}}, {1, {3}}, {1, {7}}, {2, {2, 2}}, {2, {3, 2}}, {3, {2, 2, 3}}};
  for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
    for (int64_t size = 1; size <= 26; size++)
      for (int64_t offset = 0; offset < size; offset++) {
        tp__window_read reading = {
            .n_axes = groups[g].n,
            .axes = {groups[g].axes[0], groups[g].axes[1], groups[g].axes[2]},
            .size = size,
            .points = size,
            .stride = 1,
            .offset = offset,
            .extent = 1,
            .cyclic = true};
        assert_true(works(&reading));
      }
}

static tp__hops rotation_of(int64_t devices, int64_t size, int64_t offset) {
  tp__window_read reading = {.n_axes = 1,
                             .axes = {devices},
                             .size = size,
                             .points = size,
                             .stride = 1,
                             .offset = offset,
                             .extent = 1,
                             .cyclic = true};
  tp__hops hops;
  assert_true(tp__plan_hops(&reading, &hops));
  return hops;
}

static void rotates_in_one_permute(void **state) {
  (void)state;
  static const struct {
    int64_t devices, size, offset;
    int n_moving;
    int64_t moved;
  } cases[] = {
      {4, 16, 15, 1, 1},     {4, 16, 1, 1, 1},   {4, 16, 13, 1, 3}, /* less than a shard */
      {4, 16, 4, 1, 4},      {4, 16, 8, 1, 4},                      /* whole shards */
      {4, 16, 5, 2, 4},      {4, 16, 0, 0, 0},   {1024, 1 << 20, 1, 1, 1},
      {4, 1001, 1000, 1, 4}, {4, 1001, 1, 1, 1}, /* shards of 251, 251, 251 and 248 elements */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tp__hops hops = rotation_of(cases[i].devices, cases[i].size, cases[i].offset);
    assert_int_equal(hops.n_moving, cases[i].n_moving);
    assert_int_equal(hops.moved, cases[i].moved);
    if (cases[i].size % cases[i].devices == 0) /* received at fixed places, and not copied again */
      assert_int_equal(hops.length, hops.run);
  }
}

static tp__hops plan_of(int64_t devices, int64_t size, int64_t points, int64_t stride,
                        int64_t offset, int64_t extent) {
  tp__window_read reading = {.n_axes = 1,
                             .axes = {devices},
                             .size = size,
                             .points = points,
                             .stride = stride,
                             .offset = offset,
                             .extent = extent};
  tp__hops hops;
  assert_true(tp__plan_hops(&reading, &hops));
  return hops;
}

static void moves_no_more_than_needed(void **state) {
  (void)state;
  tp__hops same = plan_of(4, 16, 16, 1, 0, 1);
  assert_int_equal(same.n_moving, 0);
  assert_int_equal(same.length, 4);
  tp__hops blocks = plan_of(4, 16, 8, 2, 0, 2); /* pooling without overlap */
  assert_int_equal(blocks.n_moving, 0);
  tp__hops halo = plan_of(4, 16, 16, 1, -1, 3); /* one element of each neighbor */
  assert_int_equal(halo.n_moving, 2);
  assert_int_equal(halo.moved, 2);
  assert_int_equal(halo.length, halo.run);
  /* each device reads one element of the other, at the same position */
  tp__hops valid = plan_of(2, 10, 8, 1, 0, 3);
  assert_int_equal(valid.n_moving, 2);
  assert_int_equal(valid.moved, 2);
  tp__hops reversed = plan_of(64, 256, 256, -1, 255, 1); /* whole buffers are swapped, at once */
  assert_int_equal(reversed.n_moving, 1);
  assert_int_equal(reversed.moved, 4);
  tp__hops half = plan_of(64, 256, 128, 1, 0, 1); /* one device serves two */
  assert_int_equal(half.n_moving, 1);
  tp__hops wide = plan_of(8, 16, 16, 1, -3, 7); /* the window is larger than a shard */
  assert_int_equal(wide.n_moving, 4);
  assert_int_equal(wide.moved, 6);
  tp__hops most = plan_of(4, 8, 8, 1, -3, 7); /* as large as the max over all shards */
  assert_int_equal(most.by, TP__BY_GATHER);
  assert_int_equal(most.n_moving, 1);
  assert_int_equal(most.moved, 6);
  tp__hops all = plan_of(64, 64, 64, 0, 0, 64); /* 64 pieces of 1 */
  assert_int_equal(all.by, TP__BY_GATHER);
  tp__window_read uneven = {
      .n_axes = 2, .axes = {2, 2}, .size = 10, .points = 10, .stride = 1, .extent = 1};
  /* shards of 3, 2, 3 and 2 elements, and as many points */
  assert_true(tp__plan_hops(&uneven, &same));
  assert_int_equal(same.n_moving, 0);
  tp__hops large = plan_of(1024, 1 << 20, 1 << 20, 1, -2, 5);
  assert_int_equal(large.moved, 4);
}

static void refuses_what_it_cannot_bring(void **state) {
  (void)state;
  tp__hops hops;
  tp__window_read units = {
      .n_axes = 1, .axes = {64}, .size = 128, .unit = 2, .points = 64, .stride = 0, .extent = 128};
  assert_false(tp__plan_hops(&units, &hops)); /* gathers do not support units */
  tp__window_read nothing = {
      .n_axes = 1, .axes = {2}, .size = 4, .points = 0, .stride = 1, .extent = 1};
  assert_false(tp__plan_hops(&nothing, &hops));
  tp__window_read huge = {
      .n_axes = 1, .axes = {2}, .size = 4, .points = 2, .stride = INT64_MAX, .extent = 1};
  assert_false(tp__plan_hops(&huge, &hops));
  tp__window_read least = {
      .n_axes = 1, .axes = {2}, .size = 4, .points = 2, .stride = INT64_MIN, .extent = 1};
  assert_false(tp__plan_hops(&least, &hops));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(brings_every_element),
      cmocka_unit_test(brings_every_rotated_element),
      cmocka_unit_test(rotates_in_one_permute),
      cmocka_unit_test(moves_no_more_than_needed),
      cmocka_unit_test(refuses_what_it_cannot_bring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
