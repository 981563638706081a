/* Looks up the control functions of the fake driver and the fake cuBLASLt. */
#include "across_fakes.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

fake_streams_of_thread_fn *streams_of_thread;
fake_set_mode_fn *set_mode;
size_t (*allocated)(void);
fake_blaslt_begin_fn *blaslt_begin;
fake_blaslt_look_fn *blaslt_look;

void open_libraries(void) {
  const struct {
    const char *library, *name;
    void *slot;
  } symbols[] = {{FAKE_DRIVER, "fake_streams_of_thread", &streams_of_thread},
                 {FAKE_DRIVER, "fake_set_mode", &set_mode},
                 {FAKE_DRIVER, "fake_allocated", &allocated},
                 {FAKE_BLASLT, "fake_blaslt_begin", &blaslt_begin},
                 {FAKE_BLASLT, "fake_blaslt_look", &blaslt_look}};
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *library = dlopen(symbols[i].library, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, symbols[i].name) : NULL;
    if (!found)
      abort();
    memcpy(symbols[i].slot, &found, sizeof found);
  }
}
