/* Plug-in backends: shared libraries, named by their absolute path, that export a messenger. */
#include "backends/message/message.h"

#include <dlfcn.h>
#include <string.h>

enum { MAX_PLUGINS = 16, MAX_PATH_BYTES = 1024 };

typedef struct plugin {
  tprt__backend backend;
  const tprt_messenger *messenger;
  char path[MAX_PATH_BYTES];
} plugin;

/* Loaded libraries are never unloaded, because any communicator may still use them. */
static plugin plugins[MAX_PLUGINS];
static int n_plugins;
static pthread_mutex_t plugins_lock = PTHREAD_MUTEX_INITIALIZER;

tprt_status tprt_messenger_fail(tprt_status status, const char *text) {
  return tprt__fail(status, "%s", text ? text : tprt_status_name(status));
}

/* The caller holds plugins_lock. */
static plugin *find_loaded(const char *path) {
  int i = 0;
  while (i < n_plugins && strcmp(plugins[i].path, path) != 0)
    i++;
  return i < n_plugins ? &plugins[i] : NULL;
}

static const plugin *find(const char *path) {
  pthread_mutex_lock(&plugins_lock);
  const plugin *found = find_loaded(path);
  pthread_mutex_unlock(&plugins_lock);
  return found;
}

static tprt_status plugin_probe(void) { return TPRT_OK; }

/* Settings name the backend by the path of its plug-in. */
static tprt_status plugin_create(int n_ranks, int rank, const tprt__settings *settings,
                                 tprt__transport **transport) {
  const plugin *from = find(settings->backend);
  if (!from->messenger->open)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "backend %s runs all ranks in one process: use tprt_world_create_threads",
                      from->messenger->name);
  return tprt__wire_open(from->messenger, &from->backend, n_ranks, rank, settings->timeout_ns,
                         transport);
}

static tprt_status plugin_create_threads(int n_ranks, const tprt__settings *settings,
                                         tprt__transport **transports) {
  const plugin *from = find(settings->backend);
  return tprt__wire_open_threads(from->messenger, &from->backend, n_ranks, transports);
}

static const tprt__backend rows = {
    .capabilities = WIRE_CAPABILITIES,
    .lacks = {TPRT__LACK(TPRT_CAP_ELASTIC) =
                  "a plug-in opens with all ranks; use backend shm or tcp",
              WIRE_LACKS},
    .probe = plugin_probe,
    .create = plugin_create,
    .create_threads = plugin_create_threads,
    WIRE_ROWS,
};

static tprt_status check(const char *path, const tprt_messenger *messenger) {
  if (!messenger)
    return tprt__fail(TPRT_UNSUPPORTED, "plug-in %s returns no messenger", path);
  if (messenger->abi != TPRT_MESSENGER_ABI || messenger->size != sizeof *messenger)
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "plug-in %s is for version %u of the messenger interface (%zu bytes); this library has "
        "version %d (%zu bytes)",
        path, messenger->abi, messenger->size, TPRT_MESSENGER_ABI, sizeof *messenger);
  if (!messenger->name || !messenger->summary || (!messenger->open && !messenger->open_threads) ||
      !messenger->send || !messenger->receive || !messenger->test || !messenger->cancel ||
      !messenger->ended || !messenger->close)
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "the messenger of plug-in %s lacks a required function, its name or its summary", path);
  return TPRT_OK;
}

static tprt_status load(const char *path, const tprt_messenger **messenger) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "plug-in %s: %s", path, dlerror());
  void *symbol = dlsym(library, "tprt_messenger_plugin");
  tprt_messenger_plugin_fn *entry;
  memcpy(&entry, &symbol, sizeof entry); /* an object pointer becomes a function pointer */
  tprt_status status = symbol ? TPRT_OK
                              : tprt__fail(TPRT_INVALID_ARGUMENT,
                                           "plug-in %s exports no tprt_messenger_plugin", path);
  if (!status) {
    *messenger = entry();
    status = check(path, *messenger);
  }
  if (status)
    dlclose(library);
  return status;
}

/* The caller holds plugins_lock. */
static tprt_status add(const char *path, const tprt__backend **backend) {
  const tprt_messenger *messenger = NULL;
  if (n_plugins == MAX_PLUGINS || strlen(path) >= MAX_PATH_BYTES)
    return tprt__fail(TPRT_NO_MEMORY,
                      "plug-in %s: at most %d can be loaded, with paths of at most %d bytes", path,
                      MAX_PLUGINS, MAX_PATH_BYTES - 1);
  tprt_status status = load(path, &messenger);
  if (status)
    return status;
  plugin *made = &plugins[n_plugins++];
  made->backend = rows;
  made->backend.name = messenger->name;
  made->backend.summary = messenger->summary;
  made->backend.capabilities |= (messenger->open ? TPRT_CAP_PROCESSES : 0u) |
                                (messenger->open_threads ? TPRT_CAP_THREADS : 0u);
  made->messenger = messenger;
  strcpy(made->path, path);
  *backend = &made->backend;
  return TPRT_OK;
}

tprt_status tprt__plugin_find(const char *path, const tprt__backend **backend) {
  if (*path != '/')
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "\"%s\" is not the name of a backend; name a plug-in by its absolute path",
                      path);
  pthread_mutex_lock(&plugins_lock);
  const plugin *known = find_loaded(path);
  tprt_status status = TPRT_OK;
  if (known)
    *backend = &known->backend;
  else
    status = add(path, backend);
  pthread_mutex_unlock(&plugins_lock);
  return status;
}
