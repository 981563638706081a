/* Macros that compare this library's declarations with the header of another library. Define
 * SAME_RESULT as the result type of that library's functions before including this: there it is an
 * enum, whose size is tested separately, so only parameters are compared. */
#ifndef TPRT_TEST_SAME_HEADER_H
#define TPRT_TEST_SAME_HEADER_H

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

/* Handles are pointers to equal structs. */
#define SAME_PARAMETERS(function, ...)                                                             \
  _Static_assert(_Generic(&function, SAME_RESULT (*)(__VA_ARGS__): 1, default: 0), #function)

#endif
