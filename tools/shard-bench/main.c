/* shard-bench: times collectives, prints them next to those of peer libraries, and writes topology
 * files. */
#include "bench.h"

#include <signal.h>

/* Measures the bound: for each size, the faster of ordinary and non-temporal stores. */
static pass_status measure_bound(const bench_job *job, pass_result *bound) {
  pass_result results[2];
  pass_status status = PASS_OK;
  for (int stream = 0; stream < 2 && status == PASS_OK; stream++) {
    bound_ranks ranks = {.job = job, .stream = stream};
    status = pass_run(bound_start, &ranks, job->n_sizes, &results[stream]);
  }
  for (int s = 0; s < job->n_sizes && status == PASS_OK; s++) {
    bool stream = results[1].median_us[s] < results[0].median_us[s];
    bound->median_us[s] = results[stream].median_us[s];
    bound->minimum_us[s] = results[stream].minimum_us[s];
  }
  return status;
}

/* Measures all programs in turn, so that other load on the host affects all of them equally. These
 * turns follow n_before of n_all turns. */
static pass_status measure(const options *o, const bench_job *job, series *own, series *bound,
                           series *theirs, int n_before, int n_all) {
  own_ranks ranks = {.job = job, .registered = o->registered, .threads = o->threads};
  pass_status status = PASS_OK;
  for (int i = 0; i < o->repeats && status == PASS_OK; i++) {
    progress_steps(n_before + i, n_all);
    status = pass_run(own_start, &ranks, job->n_sizes, &own->passes[i]);
    if (o->bound && status == PASS_OK)
      status = measure_bound(job, &bound->passes[i]);
    for (int p = 0; p < o->n_peers && status == PASS_OK; p++) {
      peer_ranks peer = {.peer = o->peers[p], .own = ranks};
      status = pass_run(peer_start, &peer, job->n_sizes, &theirs[p].passes[i]);
      if (status == PASS_FAILED)
        complain("the peer %s failed", peer_name(peer.peer));
    }
  }
  return status;
}

static int bench(const options *o) {
  static series own, bound, theirs[MAX_PEERS];
  bench_job job = o->job;
  for (int k = 0; k < o->n_kinds; k++)
    for (int p = 0; p < o->n_peers; p++) {
      job.kind = o->kinds[k];
      if (!peer_ready(o->peers[p], &job))
        return CLI_USAGE;
    }
  for (int k = 0; k < o->n_kinds && o->bound; k++)
    for (int r = 0; r < o->n_rank_counts; r++) {
      job.kind = o->kinds[k];
      job.n_ranks = o->rank_counts[r];
      if (!bound_ready(&job))
        return CLI_USAGE;
    }
  const int n_all = o->n_kinds * o->n_rank_counts * o->repeats;
  report_begin(o);
  progress("measuring");
  for (int k = 0; k < o->n_kinds; k++)
    for (int r = 0; r < o->n_rank_counts; r++) {
      job.kind = o->kinds[k];
      job.n_ranks = o->rank_counts[r];
      pass_status status =
          measure(o, &job, &own, &bound, theirs, (k * o->n_rank_counts + r) * o->repeats, n_all);
      if (status == PASS_INTERRUPTED)
        cli_print("shard-bench: interrupted\n");
      if (status != PASS_OK)
        return status == PASS_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_FAILED;
      report_series(o, &job, &own, &bound, theirs);
    }
  return 0;
}

static void warn(void *user, const char *text) {
  (void)user;
  cli_print("shard-bench: warning: %s\n", text);
}

int main(int argc, char **argv) {
  options o;
  int code = cli_parse(argc, argv, &o);
  tprt_set_logger(&(tprt_logger){.log = warn});
  if (code < 0 && o.capabilities)
    code = capabilities(&o);
  if (code < 0 && o.launch.n_ranks > 1) {
    cli_interrupt_catch(SIGINT, NULL);
    cli_interrupt_catch(SIGTERM, NULL);
    code = o.calibrate ? attached_calibrate(&o) : attached_bench(&o);
  } else if (code < 0) {
    pass_catch_signals();
    code = o.calibrate ? calibrate(&o) : bench(&o);
  }
  return cli_end(code);
}
