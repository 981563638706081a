/* The options of shard-opt as rows of tools/cli. */
#ifndef TOOLS_SHARD_OPT_OPTIONS_H
#define TOOLS_SHARD_OPT_OPTIONS_H

#include "tools/cli/cli.h"

/* Returns the tool with its options: passes and pipelines of this library from their table, those
 * of MLIR and LLVM from the help of the opt driver, which has no other interface to them. Valid
 * until the process ends. False if memory ran out or the driver failed. */
bool opt_options(cli_tool *tool);

#endif
