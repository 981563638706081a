/* Runs a world of three ranks that uses all features of backend nccl. */
#define _GNU_SOURCE 1
#include "everything.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

float *sends[4], *recvs[4];
void *streams[4];

void take_buffers(int n) {
  for (int i = 0; i < n; i++) {
    sends[i] = machine_alloc(i, COUNT * 4 * sizeof(float));
    recvs[i] = machine_alloc(i, COUNT * 16 * sizeof(float));
    streams[i] = machine_stream(i);
    for (int k = 0; k < COUNT * 4; k++)
      sends[i][k] = (float)(i + k);
  }
}

void give_buffers(int n) {
  for (int i = 0; i < n; i++) {
    machine_stream_destroy(i, streams[i]);
    machine_free(i, sends[i]);
    machine_free(i, recvs[i]);
  }
}

static tprt_status in_stream(tprt_comm *comm, float *send, float *recv, void *stream) {
  tprt_work *work = NULL;
  tprt_event *event = NULL;
  tprt_op strided = tprt_op_flat(TPRT_OP_GATHER, send, recv, 2, TPRT_F32, stream);
  strided.n_dims = 2;
  strided.shape[1] = 3;
  strided.dim = 1;
  tprt_status status = tprt_event_create(&event);
  if (!status)
    status = tprt_submit(comm, &strided, NULL);
  if (!status)
    status = tprt_event_record(event, comm, stream);
  if (!status)
    status = tprt_event_wait(event, comm, stream);
  if (!status)
    status = tprt_all_to_all(comm, send, recv, 2, TPRT_F32, stream, &work);
  if (!status)
    status = tprt_work_wait(work, 0);
  if (!status)
    status = tprt_event_sync(event, 0);
  if (!status)
    status = tprt_sync(comm);
  tprt_work_destroy(work);
  tprt_event_destroy(event);
  return status;
}

static tprt_status do_everything(tprt_comm *comm, int me, int n) {
  const int64_t counts[] = {5, 0, 7};
  float *send = sends[me], *recv = recvs[me];
  tprt_op strided = tprt_op_flat(TPRT_OP_ALL_GATHER, send, recv, 4, TPRT_F32, NULL);
  tprt_op ends[] = {tprt_op_send(send, 9, TPRT_F32, (me + 1) % n, 0),
                    tprt_op_recv(recv, 9, TPRT_F32, (me + n - 1) % n, 0)};
  tprt_comm *child = NULL;
  void *memory = NULL;
  double factor = 0.5;
  float small_factor = 0.1f; /* not a number of bf16: NCCL would round it */
  strided.n_dims = 2;
  strided.shape[1] = 6;
  strided.dim = 1;
  tprt_status status = tprt_all_reduce(comm, send, recv, COUNT, TPRT_F32, TPRT_SUM, NULL, NULL);
  for (int i = 0; i < COUNT && !status; i++)
    status = recv[i] == (float)(n * i + n * (n - 1) / 2) ? TPRT_OK : TPRT_INTERNAL;
  if (!status)
    status = tprt_submit(comm, &strided, NULL);
  if (!status)
    status = tprt_all_reduce_premul(comm, send, recv, 8, TPRT_F64, &factor, NULL, NULL);
  if (!status)
    status = tprt_all_reduce_premul(comm, send, recv, 8, TPRT_BF16, &small_factor, NULL, NULL);
  if (!status)
    status = tprt_gather(comm, send, recv, 5, TPRT_F32, 1, NULL, NULL);
  if (!status)
    status = tprt_scatter(comm, send, recv, 6, TPRT_F32, 2, NULL, NULL);
  if (!status)
    status = tprt_reduce_scatter_v(comm, send, recv, counts, NULL, TPRT_F32, TPRT_SUM, NULL, NULL);
  if (!status)
    status = tprt_submit_batch(comm, ends, 2, NULL);
  if (!status)
    status = in_stream(comm, send, recv, streams[me]);
  if (!status)
    status = tprt_mem_alloc(comm, 100, &memory);
  if (!status)
    status = tprt_mem_register(comm, send, 100);
  if (!status)
    status = tprt_mem_register_all(comm, memory, 100);
  if (!status)
    status = tprt_comm_split(comm, me == 1, 0, &child);
  if (!status)
    status = tprt_all_reduce(child, send, recv, 3, TPRT_F32, TPRT_SUM, NULL, NULL);
  if (!status)
    status = tprt_barrier(comm, NULL, NULL);
  tprt_mem_free(comm, memory);
  tprt_comm_destroy(child);
  return status;
}

static void *member_main(void *argument) {
  member *own = argument;
  own->status = do_everything(own->comm, tprt_comm_rank(own->comm), tprt_comm_size(own->comm));
  snprintf(own->text, sizeof own->text, "%s", own->status ? tprt_last_error() : "");
  /* a failure of this rank only: the others have not noticed it */
  if (own->status && !tprt_comm_status(own->comm))
    tprt_comm_abort(own->comm);
  tprt_comm_destroy(own->comm);
  return NULL;
}

void run_everything(int64_t timeout_ns, everything *result) {
  tprt_config config = machine_config();
  tprt_comm *comms[N_EVERYTHING];
  pthread_t threads[N_EVERYTHING];
  config.timeout_ns = timeout_ns;
  *result = (everything){.status = tprt_world_create_threads(N_EVERYTHING, &config, comms)};
  snprintf(result->text, sizeof result->text, "%s", result->status ? tprt_last_error() : "");
  for (int i = 0; i < N_EVERYTHING && !result->status; i++) {
    result->members[i] = (member){.comm = comms[i]};
    if (pthread_create(&threads[i], NULL, member_main, &result->members[i]) != 0)
      abort();
  }
  for (int i = 0; i < N_EVERYTHING && !result->status; i++) {
    const member *one = &result->members[i];
    pthread_join(threads[i], NULL);
    result->n_failed += one->status && *one->text;
    if (one->status == TPRT_INTERNAL || (one->status && !*one->text))
      fail_msg("rank %d: %s: %s", i, tprt_status_name(one->status), one->text);
  }
  if (result->status)
    result->n_failed = *result->text ? N_EVERYTHING : 0;
}
