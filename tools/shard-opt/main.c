/* shard-opt: MLIR's own opt driver with the tp-* passes and pipelines. Every flag of mlir-opt works. */
#include "tp/passes.h"

int main(int argc, char **argv) { return tp_opt_main(argc, argv); }
