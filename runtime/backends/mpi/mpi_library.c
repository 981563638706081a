/* Finds an MPI library, identifies its family and resolves its functions. */
#define _GNU_SOURCE 1
#include "backends/mpi/mpi_library.h"

#include "base/env.h"
#include "base/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { MPI_TURNS = 2 }; /* MPI_THREAD_SERIALIZED, the same value in both families */

/* ---- Open MPI: handles are addresses; predefined objects are symbols ---- */

static struct {
  void *world, *byte, *info_null, *errors_return;
} openmpi_objects;

#define FAMILY(name) openmpi_##name
#define FAMILY_NAME "Open MPI"
#define HANDLE void *
#define FIELD address
#define STATUS_IGNORE NULL
#define MOST_TAG 0
#define SHARED_MEMORY 0
#define WORLD openmpi_objects.world
#define BYTE openmpi_objects.byte
#define INFO_NULL openmpi_objects.info_null
#define ERRORS_RETURN openmpi_objects.errors_return
#include "backends/mpi/mpi_calls.h"
#undef FAMILY
#undef FAMILY_NAME
#undef HANDLE
#undef FIELD
#undef STATUS_IGNORE
#undef MOST_TAG
#undef SHARED_MEMORY
#undef WORLD
#undef BYTE
#undef INFO_NULL
#undef ERRORS_RETURN

/* ---- MPICH and libraries with its binary interface: handles are numbers ---- */

#define FAMILY(name) mpich_##name
#define FAMILY_NAME "MPICH"
#define HANDLE int
#define FIELD number
#define STATUS_IGNORE ((void *)1)
#define MOST_TAG 0x64400001
#define SHARED_MEMORY 1
#define WORLD 0x44000000
#define BYTE 0x4c00010d
#define INFO_NULL 0x1c000000
#define ERRORS_RETURN 0x54000001
#include "backends/mpi/mpi_calls.h"

/* ---- identification ---- */

static mpi_library loaded;
static const tprt__symbol common[] = {
    {"MPI_Initialized", &loaded.initialized},
    {"MPI_Finalized", &loaded.finalized},
    {"MPI_Finalize", &loaded.finalize},
    {"MPI_Error_string", &loaded.error_string},
    {NULL, NULL},
};
static const tprt__symbol openmpi_data[] = {
    {"ompi_mpi_comm_world", &openmpi_objects.world},
    {"ompi_mpi_byte", &openmpi_objects.byte},
    {"ompi_mpi_info_null", &openmpi_objects.info_null},
    {"ompi_mpi_errors_return", &openmpi_objects.errors_return},
    {NULL, NULL},
};

static tprt_status resolve(void *handle, const tprt__symbol *symbols) {
  const char *missing = tprt__symbols_find(handle, symbols);
  return missing ? tprt__fail(TPRT_UNSUPPORTED, "backend mpi: %s has no %s; MPI 3 is needed",
                              loaded.version, missing)
                 : TPRT_OK;
}

static void read_version(void *handle) {
  char text[8192] = ""; /* the longest text of either family */
  int length, (*version)(char *, int *);
  void *found = dlsym(handle, "MPI_Get_library_version");
  memcpy(&version, &found, sizeof version);
  if (found)
    version(text, &length);
  text[strcspn(text, "\n")] = 0;
  for (char *at = text; *at; at++)
    *at = *at == '\t' ? ' ' : *at;
  memcpy(loaded.version, text, sizeof loaded.version - 1);
}

static tprt_status identify(void *handle) {
  static const char *const like_mpich[] = {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"};
  read_version(handle);
  if (dlsym(handle, "ompi_mpi_comm_world")) {
    tprt_status status = resolve(handle, openmpi_data);
    loaded.functions = &openmpi_functions;
    return status ? status : resolve(handle, openmpi_symbols);
  }
  for (size_t i = 0; i < sizeof like_mpich / sizeof *like_mpich; i++) {
    if (!strstr(loaded.version, like_mpich[i]))
      continue;
    loaded.functions = &mpich_functions;
    return resolve(handle, mpich_symbols);
  }
  return tprt__fail(TPRT_UNSUPPORTED,
                    "backend mpi supports the ABIs of Open MPI and MPICH, but not that of \"%s\"",
                    loaded.version);
}

/* ---- search ---- */

/* Opens the first library that exists. RTLD_GLOBAL, because Open MPI loads components that need its
 * symbols. */
static void *open_first(const char *const *names, size_t n) {
  void *handle = NULL;
  for (size_t i = 0; i < n && !handle; i++)
    handle = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
  return handle;
}

static tprt_status find(void **handle) {
  static const char *const openmpi[] = {"libmpi.so.40", "libmpi.so.80"};
  static const char *const mpich[] = {"libmpich.so.12", "libmpi.so.12"};
  const char *named = tprt__env_text(TPRT__ENV_MPI_LIBRARY);
  if (named) {
    *handle = dlopen(named, RTLD_NOW | RTLD_GLOBAL);
    return *handle ? TPRT_OK
                   : tprt__fail(TPRT_UNSUPPORTED, "backend mpi: TPRT_MPI_LIBRARY: %s", dlerror());
  }
  if (dlsym(RTLD_DEFAULT, "MPI_Init_thread")) {
    *handle = RTLD_DEFAULT; /* the program is linked with one */
    return TPRT_OK;
  }
  bool by_mpich = !secure_getenv("OMPI_COMM_WORLD_SIZE") && secure_getenv("PMI_SIZE");
  *handle = open_first(by_mpich ? mpich : openmpi, 2);
  if (!*handle)
    *handle = open_first(by_mpich ? openmpi : mpich, 2);
  return *handle ? TPRT_OK
                 : tprt__fail(TPRT_UNSUPPORTED,
                              "backend mpi: neither Open MPI (%s) nor MPICH (%s) was found; set "
                              "TPRT_MPI_LIBRARY to the path of one",
                              openmpi[0], mpich[0]);
}

static tprt_status load(void) {
  void *handle;
  tprt_status status = find(&handle);
  if (!status)
    status = identify(handle);
  return status ? status : resolve(handle, common);
}

tprt_status tprt__mpi_load(const mpi_library **library) {
  static tprt__once once = TPRT__ONCE;
  *library = &loaded;
  return tprt__load_once(&once, load);
}

tprt_status tprt__mpi_fail(const mpi_library *library, int code, const char *what) {
  char text[1024] = ""; /* longer than the texts of either family */
  int length;
  library->error_string(code, text, &length);
  return tprt__fail(TPRT_SYSTEM, "backend mpi: %s: %s", what, text);
}
