/* Writes a topology file (docs/reference/topology.md) from the measurements. */
#include "calibrate.h"

static void write_line(FILE *file, const char *kind, int n, const fit *f, bool last) {
  fprintf(file,
          "        {\"kinds\": [\"%s\"], \"n\": %d, \"alpha_us\": %.4g, \"gbytes_per_s\": %.4g",
          kind, n, f->line.alpha_us, f->line.gbytes_per_s);
  if (f->has_latency)
    fprintf(file, ", \"latency\": {\"alpha_us\": %.4g, \"gbytes_per_s\": %.4g}",
            f->latency.alpha_us, f->latency.gbytes_per_s);
  fprintf(file, "}%s\n", last ? "" : ",");
}

/* Returns the latency added by each doubling of the group beyond the measured sizes: the mean
 * growth of all_gather's latency; with only one measured group, its latency. */
static double doubling_us(const host_level *level) {
  const host_lines *first = &level->lines[0], *last = &level->lines[level->n_lines - 1];
  double least =
      last->kinds[0].has_latency ? last->kinds[0].latency.alpha_us : last->kinds[0].line.alpha_us;
  if (level->n_lines == 1)
    return least;
  double begin = first->kinds[0].has_latency ? first->kinds[0].latency.alpha_us
                                             : first->kinds[0].line.alpha_us,
         doublings = 0;
  for (int n = first->n; n < last->n; n *= 2)
    doublings++;
  return least > begin ? (least - begin) / doublings : 0;
}

static void write_level(FILE *file, const host_level *level, const char *kernels, bool is_last) {
  fprintf(file, "    {\n      \"name\": \"%s\",\n", level->name);
  if (level->devices)
    fprintf(file, "      \"devices\": %d,\n", level->devices);
  fprintf(file, "      \"doubling_us\": %.4g,\n      \"lines\": [\n", doubling_us(level));
  for (int k = 0; k < MAX_KINDS; k++)
    for (int i = 0; i < level->n_lines; i++)
      write_line(file, tprt_op_kind_name(host_kinds[k]), level->lines[i].n,
                 &level->lines[i].kinds[k], k == MAX_KINDS - 1 && i == level->n_lines - 1);
  fprintf(file, "      ]%s%s\n    }%s\n", kernels ? ",\n      \"kernels\": " : "",
          kernels ? kernels : "", is_last ? "" : ",");
}

static void write_device(FILE *file, const host_model *model) {
  const double *rates = model->rates;
  if (model->device) {
    fprintf(file,
            "  \"source\": \"shard-bench --calibrate: lines of %s; device and kernels are those of "
            "another file\",\n  \"certainty\": \"lines measured\",\n  \"device\": %s,\n",
            model->lines_of, model->device);
    return;
  }
  fprintf(file,
          "  \"source\": \"shard-bench --calibrate: lines of %s, rates with %d "
          "ranks at work\",\n"
          "  \"certainty\": \"measured, with %.0f %% of the processors\",\n  \"device\": {\n"
          "    \"gflops\": {\"f64\": %.4g, \"f32\": %.4g, \"f16\": %.4g, \"i8\": %.4g},\n"
          "    \"elementwise_gops\": %.4g,\n    \"memory_gbytes_per_s\": %.4g,\n    "
          "\"memory_bytes\": %lld,\n"
          "    \"contraction_gbytes_per_s\": %.4g,\n    \"store_gbytes_per_s\": %.4g,\n"
          "    \"exposed\": %.4g,\n    \"processors\": %d,\n"
          "    \"launch_us\": %.4g,\n    \"efficiency\": 1\n  },\n",
          model->lines_of, model->n_ranks, 100 * rates[HOST_SHARE], rates[HOST_F64],
          rates[HOST_F32], rates[HOST_F16], rates[HOST_I8], rates[HOST_ELEMENTWISE],
          rates[HOST_MEMORY], (long long)model->memory_bytes, rates[HOST_CONTRACTION],
          rates[HOST_STORE], rates[HOST_EXPOSED], model->n_ranks * model->n_hosts,
          rates[HOST_LAUNCH]);
}

bool write_topology(FILE *file, const host_model *model) {
  fprintf(file,
          "{\n  \"schema\": \"tpshard.topology/1\",\n  \"name\": \"%s\",\n"
          "  \"description\": \"%s\",\n",
          model->name, model->description);
  write_device(file, model);
  fputs("  \"levels\": [\n", file);
  for (int i = 0; i < model->n_levels; i++) /* kernels reach the GPUs of a host */
    write_level(file, &model->levels[i], i == 0 ? model->kernels : NULL, i == model->n_levels - 1);
  fputs("  ]\n}\n", file);
  return fflush(file) == 0 && !ferror(file);
}
