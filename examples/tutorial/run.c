/* Runs the compiled MLP on four ranks, which are threads of this program, without any compiler:
 *
 *   cc run.c mlp.o $(pkg-config --cflags --libs tprt) -pthread -lm -o run
 *
 * Every rank holds all of x and a quarter of the weights: columns of w1, rows of w2, as the plan
 * says. The numbers are small integers, so the sums are exact in f32 and the result can be compared
 * bit by bit. */
#include <tprt/abi.h>

#include <pthread.h>
#include <stdio.h>

enum { RANKS = 4, ROWS = 64, MODEL = 256, HIDDEN = 1024, PART = HIDDEN / RANKS };

/* What mlp.o defines: one pointer to dense data per argument and per result. */
int32_t mlp(tprt_context *context, void *const *inputs, void *const *outputs);

typedef struct rank {
  tprt_comm *world;
  float x[ROWS][MODEL], w1[MODEL][PART], w2[PART][MODEL], y[ROWS][MODEL];
  tprt_status status;
} rank;

static rank ranks[RANKS];
static float hidden[ROWS][HIDDEN];

static float x_at(int i, int k) { return (float)((i + 3 * k) % 5 - 2); }
static float w1_at(int k, int h) { return (float)((2 * k + h) % 7 - 3); }
static float w2_at(int h, int j) { return (float)((h + j) % 3 - 1); }

static void fill(rank *r, int number) {
  for (int k = 0; k < MODEL; k++)
    for (int i = 0; i < ROWS; i++)
      r->x[i][k] = x_at(i, k);
  for (int k = 0; k < MODEL; k++)
    for (int h = 0; h < PART; h++) {
      r->w1[k][h] = w1_at(k, number * PART + h);
      r->w2[h][k] = w2_at(number * PART + h, k);
    }
}

static void *play(void *data) {
  rank *r = data;
  tprt_context *context;
  void *inputs[] = {r->x, r->w1, r->w2}, *outputs[] = {r->y};
  r->status = tprt_context_create(r->world, NULL, &context);
  if (r->status != TPRT_OK)
    return NULL;
  r->status = (tprt_status)mlp(context, inputs, outputs);
  if (r->status != TPRT_OK)
    fprintf(stderr, "rank %d: %s\n", tprt_comm_rank(r->world), tprt_context_error(context));
  (void)tprt_barrier(r->world, NULL, NULL); /* nobody leaves while another reads its memory */
  tprt_context_destroy(context);
  return NULL;
}

/* Elements of a rank's result that differ from the same layers in plain loops. */
static int differences(const rank *r) {
  int n = 0;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < MODEL; j++) {
      float sum = 0;
      for (int h = 0; h < HIDDEN; h++)
        sum += hidden[i][h] * w2_at(h, j);
      n += r->y[i][j] != sum;
    }
  return n;
}

static void compute_hidden(void) {
  for (int i = 0; i < ROWS; i++)
    for (int h = 0; h < HIDDEN; h++) {
      float sum = 0;
      for (int k = 0; k < MODEL; k++)
        sum += x_at(i, k) * w1_at(k, h);
      hidden[i][h] = sum > 0 ? sum : 0;
    }
}

int main(void) {
  tprt_comm *worlds[RANKS];
  pthread_t threads[RANKS];
  int n_wrong = 0;
  if (tprt_world_create_threads(RANKS, NULL, worlds) != TPRT_OK) {
    fprintf(stderr, "%s\n", tprt_last_error());
    return 1;
  }
  for (int r = 0; r < RANKS; r++) {
    ranks[r].world = worlds[r];
    fill(ranks + r, r);
    if (pthread_create(threads + r, NULL, play, ranks + r) != 0)
      return 1;
  }
  compute_hidden();
  for (int r = 0; r < RANKS; r++) {
    pthread_join(threads[r], NULL);
    int n = ranks[r].status == TPRT_OK ? differences(ranks + r) : ROWS * MODEL;
    printf("rank %d: %s, %d of %d elements differ\n", r, tprt_status_name(ranks[r].status), n,
           ROWS * MODEL);
    n_wrong += n;
  }
  for (int r = 0; r < RANKS; r++)
    tprt_comm_destroy(worlds[r]);
  return n_wrong == 0 ? 0 : 1;
}
