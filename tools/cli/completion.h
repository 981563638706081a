/* What the completions of all shells share. */
#ifndef TOOLS_CLI_COMPLETION_H
#define TOOLS_CLI_COMPLETION_H

#include "cli.h"

/* Returns what completes a value of which no values are known: "path", "folder", "at_path" (a file
 * behind an @) or "none". */
const char *cli_kind_of(const cli_option *option);
/* True for a value that may be missing: it follows '=', or there is none. */
bool cli_is_optional(const cli_option *option);
/* True if the value of the i-th option consists of parts, which are the next rows. */
bool cli_has_parts(const cli_tool *tool, int i);
/* Returns the next of the values "a|b" that a shell does not change, and sets its length; NULL at
 * the end. Advances *values. */
const char *cli_next_value(const char **values, size_t *length);

#endif
