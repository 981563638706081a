/* flight MISSING: three ranks, threads, of which one does not take part in the third operation: it
 * leaves (leaves), comes late (late), or does another one (other). Its flight recorders go to
 * TPRT_FLIGHT_DIR. */
#include <pthread.h>
#include <string.h>
#include <tprt/tprt.h>
#include <unistd.h>

enum { N = 3 };
static const char *conduct;

static void *play(void *argument) {
  tprt_comm *comm = argument;
  float data[4] = {0}, all[4 * N];
  for (int i = 0; i < 2; i++)
    tprt_all_reduce(comm, data, data, 4, TPRT_F32, TPRT_SUM, NULL, NULL);
  int is_odd = tprt_comm_rank(comm) == 2;
  if (is_odd && strcmp(conduct, "late") == 0)
    usleep(400000);
  if (is_odd && strcmp(conduct, "other") == 0)
    tprt_all_gather(comm, data, all, 4, TPRT_F32, NULL, NULL);
  else if (!is_odd || strcmp(conduct, "leaves") != 0)
    tprt_all_reduce(comm, data, data, 4, TPRT_F32, TPRT_SUM, NULL, NULL);
  return NULL;
}

int main(int argc, char **argv) {
  tprt_comm *comms[N];
  pthread_t threads[N];
  const tprt_comm_config of_comm = {
      .size = sizeof of_comm, .version = TPRT_COMM_CONFIG_VERSION, .name = "trainer"};
  const tprt_config config = {
      .size = sizeof config, .backend = "shm", .timeout_ns = 100000000, .comm = &of_comm};
  conduct = argc == 2 ? argv[1] : "";
  if (tprt_world_create_threads(N, &config, comms) != TPRT_OK)
    return 2;
  for (int i = 0; i < N; i++)
    pthread_create(&threads[i], NULL, play, comms[i]);
  for (int i = 0; i < N; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < N; i++)
    tprt_comm_destroy(comms[i]);
  return 0;
}
