/* The functions of an MPI library that is found at run time. The binary interfaces of Open MPI and
 * MPICH differ in the type of handles and in the values of constants. Each family has its own table
 * of functions, which hides these differences. */
#ifndef TPRT_RUNTIME_MPI_LIBRARY_H
#define TPRT_RUNTIME_MPI_LIBRARY_H

#include "base/base.h"

/* A handle of either family: an address, or an int. */
typedef union mpi_handle {
  void *address;
  int number;
} mpi_handle;

/* The functions return an MPI error code, 0 for success. Messages consist of bytes; statuses are
 * ignored. */
typedef struct mpi_functions {
  const char *family;
  int (*initialize)(int *level); /* requests MPI_THREAD_SERIALIZED */
  int (*query_thread)(int *level);
  int (*duplicate_world)(mpi_handle *comm);
  int (*rank)(mpi_handle comm, int *rank);
  int (*size)(mpi_handle comm, int *size);
  /* The lowest rank on the host of each rank, and the number of ranks on this host. */
  int (*hosts)(mpi_handle comm, int rank, int *first, int *size);
  int (*max_tag)(mpi_handle comm, int *tag);
  int (*return_errors)(mpi_handle comm);
  int (*world_barrier)(mpi_handle *request);
  int (*send)(const void *data, int bytes, int peer, int tag, mpi_handle comm, mpi_handle *request);
  int (*receive)(void *data, int bytes, int peer, int tag, mpi_handle comm, mpi_handle *request);
  int (*test)(mpi_handle *request, int *done);
  int (*cancel)(mpi_handle *request); /* of a receive; waits until it has ended */
} mpi_functions;

/* Functions that are the same in both families. */
typedef struct mpi_library {
  const mpi_functions *functions;
  char version[96]; /* the first line of the library's version text */
  int (*initialized)(int *flag);
  int (*finalized)(int *flag);
  int (*finalize)(void);
  int (*error_string)(int code, char *text, int *length);
} mpi_library;

/* Loads the library once: TPRT_MPI_LIBRARY if it is set, else the one that the program is linked
 * with, else that of the launcher, else the first one found. */
tprt_status tprt__mpi_load(const mpi_library **library);

/* Returns an error with the text of an MPI error code, for a message about `what`. */
tprt_status tprt__mpi_fail(const mpi_library *library, int code, const char *what);

#endif
