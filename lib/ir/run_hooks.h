/* What the caller of tp_text_run wants of the passes of this library. The hooks belong to the
 * thread that runs the pipeline. */
#ifndef TP_IR_RUN_HOOKS_H
#define TP_IR_RUN_HOOKS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tp_run_hooks {
  bool wants_report;
  char *report;                                  /* the last one, owned (tp__free); NULL: none */
  int (*progress)(void *data, const char *pass); /* may be NULL */
  void *data;
} tp_run_hooks;

/* Returns the hooks of this thread; NULL outside of tp_text_run. */
tp_run_hooks *tp__run_hooks(void);
/* Sets the hooks of this thread; NULL: none. */
void tp__run_hooks_set(tp_run_hooks *hooks);
/* Reports that the pass begins. True if the run is cancelled. */
bool tp__run_hooks_cancel(const char *pass);

#ifdef __cplusplus
}
#endif
#endif
