/* The functions of an MPI library that is found at run time. The binary interfaces of Open MPI and
 * MPICH differ in what a handle is and in the values of constants; what differs is behind this
 * table, of which each has one. */
#ifndef TPRT_RUNTIME_MPI_LIBRARY_H
#define TPRT_RUNTIME_MPI_LIBRARY_H

#include "base/base.h"

/* A handle of either: an address, or an int. */
typedef union mpi_handle {
  void *address;
  int number;
} mpi_handle;

/* Functions that return an error code of MPI: 0 is success. Bytes and any tag; no status. */
typedef struct mpi_functions {
  const char *family;
  int (*initialize)(int *level); /* asks for threads that take turns */
  int (*query_thread)(int *level);
  int (*duplicate_world)(mpi_handle *comm);
  int (*rank)(mpi_handle comm, int *rank);
  int (*size)(mpi_handle comm, int *size);
  int (*host_size)(mpi_handle comm, int rank, int *size);
  int (*most_tag)(mpi_handle comm, int *tag);
  int (*return_errors)(mpi_handle comm);
  int (*world_barrier)(mpi_handle *request);
  int (*send)(const void *data, int bytes, int peer, int tag, mpi_handle comm, mpi_handle *request);
  int (*receive)(void *data, int bytes, int peer, int tag, mpi_handle comm, mpi_handle *request);
  int (*test)(mpi_handle *request, int *done);
  int (*cancel)(mpi_handle *request); /* of a receive; waits until it is over */
} mpi_functions;

/* Those that are the same in both. */
typedef struct mpi_library {
  const mpi_functions *functions;
  char version[96]; /* what the library says it is, the first line */
  int (*initialized)(int *flag);
  int (*finalized)(int *flag);
  int (*finalize)(void);
  int (*error_string)(int code, char *text, int *length);
} mpi_library;

/* Loads the library once. Which: TPRT_MPI_LIBRARY; one that the program is linked with; that of the
 * launcher; the first found. */
tprt_status tprt__mpi_load(const mpi_library **library);

/* Text for a code of MPI, for a message about `what`. */
tprt_status tprt__mpi_fail(const mpi_library *library, int code, const char *what);

#endif
