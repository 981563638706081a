/* --capabilities: prints the capabilities of each backend, or why it lacks one (the table of
 * docs/reference/backends.md), and whether this machine meets the backend's requirements. */
#include "bench.h"

#include <strings.h>
#include <unistd.h>

/* Prints one answer; `reason` is NULL if the backend has the capability. */
static void print_answer(const options *o, const char *backend, const char *question,
                         const char *reason) {
  const char *answer = reason ? "no" : "yes";
  char quoted[512];
  if (o->format == FORMAT_JSON) {
    printf("{\"backend\": \"%s\", \"capability\": \"%s\", \"supported\": %s", backend, question,
           reason ? "false" : "true");
    if (reason)
      printf(", \"reason\": \"%s\"", report_quote(reason, "\\\"", '\\', quoted, sizeof quoted));
    puts("}");
  } else if (o->format == FORMAT_CSV) {
    printf("%s,%s,%s,\"%s\"\n", backend, question, answer,
           report_quote(reason ? reason : "", "\"", '"', quoted, sizeof quoted));
  } else {
    char line[1024];
    snprintf(line, sizeof line, "%-9s %-12s %-4s %s", backend, question, answer,
             reason ? reason : "");
    cli_print_wrapped(stdout, line, cli_columns(STDOUT_FILENO, 0));
    putchar('\n');
  }
}

int capabilities(const options *o) {
  const char *backend, *capability;
  char known[128] = "";
  bool found = false;
  for (size_t b = 0; (backend = tprt_backend_name(b)); b++) {
    size_t n = strlen(known);
    snprintf(known + n, sizeof known - n, "%s%s", b ? ", " : "", backend);
    found |= !o->backend || strcasecmp(backend, o->backend) == 0;
  }
  if (!found)
    return cli_usage("there is no backend '%s'; known: %s", o->backend, known);
  if (o->format == FORMAT_CSV)
    puts("backend,capability,supported,reason");
  for (size_t b = 0; (backend = tprt_backend_name(b)); b++) {
    if (o->backend && strcasecmp(backend, o->backend) != 0)
      continue;
    print_answer(o, backend, "here", tprt_backend_probe(b) ? tprt_last_error() : NULL);
    for (int bit = 0; (capability = tprt_capability_name(bit, NULL)); bit++)
      print_answer(o, backend, capability, tprt_backend_lack(b, bit));
  }
  return 0;
}
