/* The progress and the end of planning, for the tools that plan. */
#include "cli.h"

#include <string.h>

bool cli_watch(const char *pass, const char *phase, double cost, double bound, double left,
               bool soft) {
  bool plans = strcmp(pass, "tp-propagate") == 0;
  char text[96];
  cli_interrupt_soft(plans && soft);
  if (plans && cli_interrupt_asked()) {
    progress_detail("ending with the best plan so far, Ctrl-C ends at once", -1, false);
    return true;
  }
  if (plans && cost >= 0 && bound > 0)
    snprintf(text, sizeof text, "gap so far %.2g %%, %s", 100 * (cost - bound) / bound, phase);
  else
    snprintf(text, sizeof text, "%s", plans ? phase : "");
  progress_detail(text, plans ? left : -1, true);
  return false;
}
