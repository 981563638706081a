/* For files that are compiled where another library's header is: what ours says of it is so. Before
 * it is included SAME_RESULT is what that library's functions return: an enum there, of whose size
 * a test is, so only their parameters are compared. */
#ifndef TPRT_TEST_SAME_HEADER_H
#define TPRT_TEST_SAME_HEADER_H

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

/* Handles are pointers to the same structs. */
#define SAME_PARAMETERS(function, ...)                                                             \
  _Static_assert(_Generic(&function, SAME_RESULT (*)(__VA_ARGS__): 1, default: 0), #function)

#endif
