/* Tells the watch of the process (tp/watch.h) what a pass does, and ends searches for it. */
#ifndef TP_IR_RUN_WATCH_H
#define TP_IR_RUN_WATCH_H

#include "tp/watch.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The pass begins on this thread; "": it has ended. */
void tp__watch_pass(const char *pass);
/* What it does from now on; static text. Nothing is known of its plans. */
void tp__watch_phase(const char *phase);
/* The best plan so far and the bound, in seconds; negative: unknown, and what is known stays. */
void tp__watch_plan(double cost, double bound);
/* Seconds until the search ends at the latest; negative: unknown. */
void tp__watch_left(double seconds);
/* A diagnostic comes next. */
void tp__watch_diagnostic(void);
/* True if there is a watch. */
bool tp__is_watched(void);
/* True if the watch ends the search. May be called often. */
bool tp__watch_ends(void);

#ifdef __cplusplus
}
#endif
#endif
