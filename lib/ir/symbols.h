/* Names of functions in compiled programs. */
#ifndef TP_IR_SYMBOLS_H
#define TP_IR_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

/* Prefix of the symbol of a function whose own name is reserved. */
#define TP_ENTRY_PREFIX "tp.entry."

/* True if generated code may refer to another function of this name: a function of libm or of the C
 * library that passes or LLVM call, or a name of the compiler or the runtime; or if a symbol made
 * from the name would be another one: an intrinsic of LLVM, the table of a function. */
bool tp__is_reserved_symbol(const char *name, size_t length);

#endif
