/* The program shard-run. */
#include "run.h"

int main(int argc, char **argv) { return tp__shard_run(argc, argv); }
