/* The options of shard-opt as rows of tools/cli, and suggestions for misspelled passes. */
#ifndef TOOLS_SHARD_OPT_OPTIONS_H
#define TOOLS_SHARD_OPT_OPTIONS_H

#include "tools/cli/cli.h"

/* An option of this program for itself: print the help of the driver. */
#define OPT_DRIVER_HELP "--driver-help"

/* The rows below are valid until the process ends. */

/* Returns the tool with all its options: passes and pipelines of this library from their table,
 * those of MLIR and LLVM from the help of the opt driver, which has no other interface to them.
 * False if memory ran out or the driver failed. */
bool opt_options(cli_tool *tool);
/* Returns the tool with passes and pipelines of this library, in a line each, and with the options
 * of the driver that are used most. */
bool opt_page(cli_tool *tool);
/* Returns the rows of a pass or pipeline of this library: itself and its options. NULL: there is
 * none of this name. */
const cli_option *opt_pass(const char *name, int *n);

/* Suggests a pass or pipeline of this library, as cli_suggest does. */
const char *opt_suggest_pass(const char *name, size_t length, cli_suggestion *out);
/* After a failure: prints a note for each pass or option of a pass on the command line that does
 * not exist, with a suggestion. */
void opt_suggest(int argc, char **argv);

#endif
