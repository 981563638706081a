/* The calls of one family of MPI libraries, as declared by the MPI standard.
 *
 * mpi_library.c includes this file once per family. It defines FAMILY(name), which adds the
 * family's prefix; FAMILY_NAME; HANDLE, the type of handles; FIELD, the member of mpi_handle that
 * holds one; and the constants and predefined handles used below. */
static struct {
  int (*Init_thread)(int *argc, char ***argv, int required, int *provided);
  int (*Query_thread)(int *provided);
  int (*Comm_dup)(HANDLE comm, HANDLE *made);
  int (*Comm_rank)(HANDLE comm, int *rank);
  int (*Comm_size)(HANDLE comm, int *size);
  int (*Comm_split_type)(HANDLE comm, int type, int key, HANDLE info, HANDLE *made);
  int (*Comm_free)(HANDLE *comm);
  int (*Allgather)(const void *send, int n_send, HANDLE send_type, void *recv, int n_recv,
                   HANDLE recv_type, HANDLE comm);
  int (*Comm_get_attr)(HANDLE comm, int keyval, void *value, int *found);
  int (*Comm_set_errhandler)(HANDLE comm, HANDLE handler);
  int (*Ibarrier)(HANDLE comm, HANDLE *request);
  int (*Isend)(const void *data, int count, HANDLE type, int peer, int tag, HANDLE comm,
               HANDLE *request);
  int (*Irecv)(void *data, int count, HANDLE type, int peer, int tag, HANDLE comm, HANDLE *request);
  int (*Test)(HANDLE *request, int *done, void *status);
  int (*Cancel)(HANDLE *request);
  int (*Wait)(HANDLE *request, void *status);
} FAMILY(calls);

static const tprt__symbol FAMILY(symbols)[] = {
    {"MPI_Init_thread", &FAMILY(calls).Init_thread},
    {"MPI_Query_thread", &FAMILY(calls).Query_thread},
    {"MPI_Comm_dup", &FAMILY(calls).Comm_dup},
    {"MPI_Comm_rank", &FAMILY(calls).Comm_rank},
    {"MPI_Comm_size", &FAMILY(calls).Comm_size},
    {"MPI_Comm_split_type", &FAMILY(calls).Comm_split_type},
    {"MPI_Comm_free", &FAMILY(calls).Comm_free},
    {"MPI_Allgather", &FAMILY(calls).Allgather},
    {"MPI_Comm_get_attr", &FAMILY(calls).Comm_get_attr},
    {"MPI_Comm_set_errhandler", &FAMILY(calls).Comm_set_errhandler},
    {"MPI_Ibarrier", &FAMILY(calls).Ibarrier},
    {"MPI_Isend", &FAMILY(calls).Isend},
    {"MPI_Irecv", &FAMILY(calls).Irecv},
    {"MPI_Test", &FAMILY(calls).Test},
    {"MPI_Cancel", &FAMILY(calls).Cancel},
    {"MPI_Wait", &FAMILY(calls).Wait},
    {NULL, NULL},
};

static int FAMILY(initialize)(int *level) {
  return FAMILY(calls).Init_thread(NULL, NULL, MPI_TURNS, level);
}
static int FAMILY(query_thread)(int *level) { return FAMILY(calls).Query_thread(level); }
static int FAMILY(duplicate_world)(mpi_handle *comm) {
  return FAMILY(calls).Comm_dup(WORLD, &comm->FIELD);
}
static int FAMILY(rank)(mpi_handle comm, int *rank) {
  return FAMILY(calls).Comm_rank(comm.FIELD, rank);
}
static int FAMILY(size)(mpi_handle comm, int *size) {
  return FAMILY(calls).Comm_size(comm.FIELD, size);
}

static int FAMILY(hosts)(mpi_handle comm, int rank, int *first, int *size) {
  HANDLE host;
  int code = FAMILY(calls).Comm_split_type(comm.FIELD, SHARED_MEMORY, rank, INFO_NULL, &host);
  if (code)
    return code;
  code = FAMILY(calls).Comm_size(host, size);
  if (!code) /* the ranks of this host, ascending */
    code = FAMILY(calls).Allgather(&rank, sizeof rank, BYTE, first, sizeof rank, BYTE, host);
  FAMILY(calls).Comm_free(&host);
  int lowest = first[0];
  return code ? code
              : FAMILY(calls).Allgather(&lowest, sizeof lowest, BYTE, first, sizeof lowest, BYTE,
                                        comm.FIELD);
}

static int FAMILY(max_tag)(mpi_handle comm, int *tag) {
  int *value = NULL, found = 0,
      code = FAMILY(calls).Comm_get_attr(comm.FIELD, MOST_TAG, &value, &found);
  *tag = !code && found ? *value : 32767; /* the minimum that every MPI supports */
  return code;
}

static int FAMILY(return_errors)(mpi_handle comm) {
  return FAMILY(calls).Comm_set_errhandler(comm.FIELD, ERRORS_RETURN);
}
static int FAMILY(world_barrier)(mpi_handle *request) {
  return FAMILY(calls).Ibarrier(WORLD, &request->FIELD);
}

static int FAMILY(send)(const void *data, int bytes, int peer, int tag, mpi_handle comm,
                        mpi_handle *request) {
  return FAMILY(calls).Isend(data, bytes, BYTE, peer, tag, comm.FIELD, &request->FIELD);
}

static int FAMILY(receive)(void *data, int bytes, int peer, int tag, mpi_handle comm,
                           mpi_handle *request) {
  return FAMILY(calls).Irecv(data, bytes, BYTE, peer, tag, comm.FIELD, &request->FIELD);
}

static int FAMILY(test)(mpi_handle *request, int *done) {
  return FAMILY(calls).Test(&request->FIELD, done, STATUS_IGNORE);
}

static int FAMILY(cancel)(mpi_handle *request) {
  int code = FAMILY(calls).Cancel(&request->FIELD);
  return code ? code : FAMILY(calls).Wait(&request->FIELD, STATUS_IGNORE);
}

static const mpi_functions FAMILY(functions) = {
    .family = FAMILY_NAME,
    .initialize = FAMILY(initialize),
    .query_thread = FAMILY(query_thread),
    .duplicate_world = FAMILY(duplicate_world),
    .rank = FAMILY(rank),
    .size = FAMILY(size),
    .hosts = FAMILY(hosts),
    .max_tag = FAMILY(max_tag),
    .return_errors = FAMILY(return_errors),
    .world_barrier = FAMILY(world_barrier),
    .send = FAMILY(send),
    .receive = FAMILY(receive),
    .test = FAMILY(test),
    .cancel = FAMILY(cancel),
};
