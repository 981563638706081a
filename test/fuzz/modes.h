/* The modes of the fuzzer. Each prints what it saw and returns the number of defects. */
#ifndef FUZZ_MODES_H
#define FUZZ_MODES_H

#include "base.h"

typedef struct setting {
  uint64_t seed;
  int count;       /* cases; 0: as many as fit into the time */
  double seconds;  /* 0: no limit */
  const char *out; /* folder for minimal programs */
  bool verbose;    /* a line for every case, and the first of every kind of refusal */
  bool on_gpu;     /* programs: for GPUs */
  /* programs: with norms, and sums over devices fused with what stands behind them */
  bool fused;
  bool require; /* programs: too few accepted, or with a collective, is a defect */
  int n_files;  /* to mutate */
  char *const *files;
} setting;

int fuzz_programs(const setting *s);
int fuzz_limits(const setting *s);
int fuzz_mutations(const setting *s);
int fuzz_reshards(const setting *s);
int fuzz_texts(const setting *s);

/* May case `i` start? */
bool may_go_on(const setting *s, int i, double start);
double now(void);

/* How often messages occur, numbers and names in quotes left out. */
typedef struct tally {
  struct {
    char *key, *example;
    int count;
  } rows[128];
  int n;
} tally;
void tally_add(tally *t, const char *message);
void tally_print(const tally *t, const char *title, int most);

#endif
