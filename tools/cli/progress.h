/* What the progress line and other output to stderr share. */
#ifndef TOOLS_CLI_PROGRESS_H
#define TOOLS_CLI_PROGRESS_H

#include "cli.h"

/* Take stderr, from the thread that draws the progress line. False if that takes too long: the
 * caller may be a signal handler that interrupted the owner. Async-signal-safe. */
bool cli_stderr_take(void);
void cli_stderr_give(void);

/* Replace the progress line; remove it. Async-signal-safe, for the owner of stderr. */
void cli_line_draw(const char *text);
void cli_line_clear(void);

#endif
