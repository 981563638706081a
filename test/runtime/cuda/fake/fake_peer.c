/* Memory that other processes open. Separately mapped blocks of 2 MiB are memory files, which those
 * processes map. */
#define _GNU_SOURCE 1
#include "fake_driver.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS(X)                                                                                   \
  X(handle_of, "cuIpcGetMemHandle", (cuda_ipc_handle * handle, cuda_address memory))               \
  X(open, "cuIpcOpenMemHandle_v2",                                                                 \
    (cuda_address * memory, cuda_ipc_handle handle, unsigned flags))                               \
  X(close, "cuIpcCloseMemHandle", (cuda_address memory))
#define EXPORT_PEER(name, symbol, parameters)                                                      \
  extern cuda_result peer_##name parameters __asm__(symbol) TPRT_API;
CALLS(EXPORT_PEER)

/* Contents of a handle. */
typedef struct parcel {
  int process, file;
  uint64_t bytes;
} parcel;

cuda_result peer_handle_of(cuda_ipc_handle *handle, cuda_address memory) {
  uint64_t begin, end;
  parcel p = {.process = (int)getpid(), .file = fake_export(memory)};
  if (p.file < 0 || !fake_find_memory(NULL, memory, &begin, &end) || begin != memory)
    return FAKE_INVALID_VALUE;
  p.bytes = end - begin;
  memset(handle, 0, sizeof *handle);
  memcpy(handle, &p, sizeof p);
  return fake_fails_at("export");
}

/* Fails in the process that exported the memory, like the real driver. */
cuda_result peer_open(cuda_address *memory, cuda_ipc_handle handle, unsigned flags) {
  parcel p;
  char path[64];
  memcpy(&p, &handle, sizeof p);
  if (flags != CUDA_IPC_ENABLE_PEERS || p.process == (int)getpid())
    return FAKE_INVALID_VALUE;
  if (fake_mode_is("open"))
    return FAKE_STUB_LIBRARY;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", p.process, p.file);
  int file = open(path, O_RDWR | O_CLOEXEC);
  void *mapped =
      file < 0 ? MAP_FAILED : mmap(NULL, p.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0)
    close(file);
  if (mapped == MAP_FAILED)
    return FAKE_NOT_FOUND;
  *memory = (cuda_address)(uintptr_t)mapped;
  fake_note_memory(*memory, p.bytes, FAKE_OPENED);
  return CUDA_RESULT_SUCCESS;
}

cuda_result peer_close(cuda_address memory) {
  uint64_t begin, end;
  if (fake_file_of(memory) != FAKE_OPENED || !fake_find_memory(NULL, memory, &begin, &end) ||
      !fake_forget_memory(memory))
    return FAKE_INVALID_VALUE;
  munmap((void *)(uintptr_t)begin, end - begin);
  return CUDA_RESULT_SUCCESS;
}
