/* The modes of the fuzzer. Each prints statistics and returns the number of defects. */
#ifndef FUZZ_MODES_H
#define FUZZ_MODES_H

#include "generate/base.h"

typedef struct setting {
  uint64_t seed;
  int count;       /* number of cases; 0: as many as fit into the time */
  double seconds;  /* 0: no limit */
  const char *out; /* folder for minimal programs */
  bool verbose;    /* print a line per case, and the first example of each kind of refusal */
  bool on_gpu;     /* programs: for GPUs */
  /* programs: with norms and fused collectives */
  bool fused;
  /* programs: a too small share of accepted ones, or of ones with collectives, is a defect */
  bool require;
  int n_files; /* number of files to mutate */
  char *const *files;
} setting;

int fuzz_programs(const setting *s);
int fuzz_limits(const setting *s);
int fuzz_mutations(const setting *s);
int fuzz_reshards(const setting *s);
int fuzz_texts(const setting *s);

/* Returns true if case `i` may start. */
bool may_go_on(const setting *s, int i, double start);
double now(void);

/* Frequencies of messages, which are compared without numbers and quoted names. */
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
