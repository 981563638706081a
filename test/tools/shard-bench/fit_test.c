/* Tests the fit of cost lines to times. */
#include "tools/shard-bench/calibrate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { N = 8 };

static double bytes[N], us[N];

/* Creates sizes 1 KiB, 4 KiB, ... with the minimum of the times of two lines. */
static void make(double alpha, double bandwidth, double late_alpha, double late_bandwidth) {
  for (int i = 0; i < N; i++) {
    bytes[i] = 1024.0 * (double)(1 << (2 * i));
    us[i] =
        fmin(alpha + bytes[i] / (bandwidth * 1e3), late_alpha + bytes[i] / (late_bandwidth * 1e3));
  }
}

static void check_near(double got, double wanted) {
  if (fabs(got / wanted - 1) > 0.01)
    fail_msg("%g is not near %g", got, wanted);
}

static void one_line(void **state) {
  (void)state;
  make(5, 10, 5, 10);
  fit f = fit_points(N, bytes, us);
  assert_false(f.has_latency);
  check_near(f.line.alpha_us, 5);
  check_near(f.line.gbytes_per_s, 10);
  assert_true(f.max_error < 1e-6 && f.mean_error < 1e-6);
}

static void two_lines(void **state) {
  (void)state;
  make(3, 0.5, 40, 20);
  fit f = fit_points(N, bytes, us);
  assert_true(f.has_latency && f.max_error < 0.3);
  assert_true(f.latency.alpha_us > 2 && f.latency.alpha_us < 4 && f.line.alpha_us > 30 &&
              f.line.alpha_us < 50);
  assert_true(f.line.gbytes_per_s > 15 && f.line.gbytes_per_s < 25);
}

/* Large messages are slower than a line: the fit still starts above zero. */
static void steeper_than_a_line(void **state) {
  (void)state;
  make(1, 10, 1, 10);
  for (int i = 5; i < N; i++)
    us[i] *= 4;
  fit f = fit_points(N, bytes, us);
  assert_true(f.line.alpha_us >= us[0] / 2 && f.line.gbytes_per_s > 0 &&
              isfinite(f.line.gbytes_per_s));
  /* times independent of the size */
  for (int i = 0; i < N; i++)
    us[i] = 7;
  f = fit_points(N, bytes, us);
  assert_true(f.line.alpha_us > 5 && f.line.alpha_us <= 7);
  check_near(f.line.gbytes_per_s, 2 * bytes[N - 1] / 7e3); /* twice the best measured bandwidth */
  /* noise on the small sizes */
  make(1, 10, 1, 10);
  us[0] = us[1] = us[2] = 300;
  f = fit_points(N, bytes, us);
  assert_true(f.line.gbytes_per_s > 5 && f.line.gbytes_per_s < 25);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_line), cmocka_unit_test(two_lines),
                                     cmocka_unit_test(steeper_than_a_line)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
