/* Fits one or two cost lines to measured times. */
#include "calibrate.h"

#include <math.h>

/* Minimizes the sum of ((alpha + slope * x - t) / t)^2, with two constraints from the data. First,
 * alpha is at least half of the smallest time: if large messages exceed the caches, times grow
 * faster than a line, and the unconstrained fit would start below zero. Second, the bandwidth is at
 * most twice the best measured one: if noise makes small messages slow, the unconstrained line
 * would be flat or falling. */
static fit_line fit_one(int n, const double *x, const double *t) {
  double s = 0, sx = 0, sxx = 0, st = 0, sxt = 0, reached = 0;
  for (int i = 0; i < n; i++) {
    double w = 1 / (t[i] * t[i]);
    s += w;
    sx += w * x[i];
    sxx += w * x[i] * x[i];
    st += w * t[i];
    sxt += w * x[i] * t[i];
    reached = x[i] / t[i] > reached ? x[i] / t[i] : reached;
  }
  double det = s * sxx - sx * sx, least_slope = 0.5 / reached;
  double alpha = det > 0 ? (st * sxx - sx * sxt) / det : 0;
  alpha = alpha > t[0] / 2 ? alpha : t[0] / 2;
  double slope = (sxt - alpha * sx) / sxx; /* optimal for this alpha */
  if (slope < least_slope) {
    slope = least_slope;
    alpha = (st - slope * sx) / s; /* optimal for this slope */
    alpha = alpha > t[0] / 2 ? alpha : t[0] / 2;
  }
  return (fit_line){alpha, 1e-3 / slope};
}

static double time_of(const fit_line *line, double bytes) {
  return line->alpha_us + bytes / (line->gbytes_per_s * 1e3);
}

static void set_errors(fit *f, int n, const double *bytes, const double *us) {
  f->mean_error = f->max_error = 0;
  for (int i = 0; i < n; i++) {
    double model = time_of(&f->line, bytes[i]);
    if (f->has_latency && time_of(&f->latency, bytes[i]) < model)
      model = time_of(&f->latency, bytes[i]);
    double error = fabs(model / us[i] - 1);
    f->mean_error += error / n;
    f->max_error = error > f->max_error ? error : f->max_error;
  }
}

fit fit_points(int n, const double *bytes, const double *us) {
  fit one = {.line = fit_one(n, bytes, us)};
  set_errors(&one, n, bytes, us);
  fit best = one;
  for (int split = 2; split <= n - 2; split++) {
    fit two = {.latency = fit_one(split, bytes, us), .has_latency = true};
    two.line = fit_one(n - split, bytes + split, us + split);
    if (two.latency.alpha_us >= two.line.alpha_us ||
        two.latency.gbytes_per_s >= two.line.gbytes_per_s)
      continue;
    set_errors(&two, n, bytes, us);
    if (two.mean_error < 0.8 * one.mean_error && two.mean_error < best.mean_error)
      best = two;
  }
  return best;
}
