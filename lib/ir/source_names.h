/* The names that values have in the source. MLIR drops them when it parses, but a location is the
 * place of the text. */
#ifndef TP_IR_SOURCE_NAMES_H
#define TP_IR_SOURCE_NAMES_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stdio.h>

/* The source that was read last; {0}: none. */
typedef struct tp_source {
  char *path;
  FILE *file;   /* NULL: it cannot be read */
  long *starts; /* the offsets of the first lines */
  size_t n_starts, capacity;
} tp_source;

/* Writes the name that a value has in its source, "%w2", or "%a#1" for the second result of "%a:2".
 * False if it has none: it was made by a pass, or its source is no file that can be read again, or
 * is one of several parts of a file, or it is a number, which no other value of the program may
 * have. */
bool tp__source_name(tp_source *source, MlirValue value, size_t size, char *name);
/* Writes the name of a value that the source uses at `place`, and the one of the source that is
 * most like it, "" if none is. False if there is no name. Both texts have `size` bytes, at most
 * 512. */
bool tp__source_similar_value(MlirLocation place, size_t size, char *name, char *closest);
/* Writes what the source has at `place`, up to the end of the line or of `text`, which has `size`
 * bytes, at most 512; "" if it cannot be read. */
void tp__source_text(MlirLocation place, size_t size, char *text);
/* Writes the name of operand `i` of the op that the source has at `place`. False if that line does
 * not name it. */
bool tp__source_operand(MlirLocation place, int i, size_t size, char *name);
/* Writes "%x is tensor<8x16xf32>, %w is tensor<17x32xf32>" about the operands in "ins(...)" and
 * "outs(...)" of the op that the source has at `place`. False if that line does not have them, or
 * `size` does not suffice. */
bool tp__source_operand_types(MlirLocation place, size_t size, char *text);
void tp__source_close(tp_source *source);
/* Sets the text in which the locations of a program without a file are, on this thread; NULL: none.
 * It is borrowed. */
void tp__source_text_set(const char *text, size_t size);

enum { TP_BOUNDARY_TEXT = 128 };
/* Writes the name of an argument: tp.name, else the name in the source without the sign of SSA
 * values, "w2", else "". */
void tp__argument_name(tp_source *source, MlirOperation func, int i, size_t size, char *name);
/* Writes how messages call an argument or a result of a function: "argument 3 (w1)", with tp.name;
 * else "argument 3 (%w1)", with the name in the source; else "argument 3". Returns `text`. */
const char *tp__boundary_text(tp_source *source, MlirOperation func, bool is_argument, int i,
                              char text[TP_BOUNDARY_TEXT]);
/* The place of the argument that a message about a function begins with, "argument 3: ...", if it
 * has one in a file; else false. */
bool tp__argument_place(MlirOperation func, const char *message, MlirLocation *place);
/* Writes `message` with the names of the arguments and results of the function that it counts:
 * "argument 3: ..." becomes "argument 3 (%w1): ...". */
void tp__name_boundary(MlirOperation func, const char *message, size_t size, char *text);

#endif
