/* The PTX parser: its state, and the interfaces between its files. */
#ifndef TPRT_TEST_CUDA_PTX_PARSER_H
#define TPRT_TEST_CUDA_PTX_PARSER_H

#include "ptx_inside.h"

#include <setjmp.h>

enum { PTX_MOST_WORD = 200, PTX_POOL = PTX_MOST_LIST + 16 };

/* Registers that a .reg declares: prefix<count>, or a single name. */
typedef struct ptx_declared {
  char prefix[64];
  int32_t count, first; /* count -1: a single name */
  int bits, depth;
} ptx_declared;

typedef struct ptx_label {
  char name[64];
  int32_t at; /* -1: not defined yet */
  int line;
} ptx_label;

typedef struct ptx_parser {
  const char *at;
  int line, depth;
  bool leaves_bodies; /* to ptx_read_kernel */
  char token[PTX_MOST_WORD];
  const char *token_at;
  ptx_module *module;
  ptx_kernel *kernel;
  ptx_declared *declared;
  int n_declared;
  ptx_label *labels;
  int n_labels;
  ptx_operand pool[PTX_POOL];
  int n_pool;
  jmp_buf failed;
  char *error;
} ptx_parser;

/* Ends parsing with a message that contains the line. */
_Noreturn void ptx_refuse(ptx_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- ptx_text.c: words ---- */

/* Reads the next word into p->token and returns it: a name or number, a string, a character. "" at
 * the end. */
const char *ptx_next(ptx_parser *p);
bool ptx_is(const ptx_parser *p, const char *word);
bool ptx_peek(ptx_parser *p, char c);   /* true if c comes next */
bool ptx_accept(ptx_parser *p, char c); /* consumes c if it comes next */
void ptx_expect(ptx_parser *p, char c); /* rejects anything else */
/* Parses a number of any form into an operand; false if the word is not a number. */
bool ptx_number_of(const char *word, ptx_operand *o);
/* Reads the next word, a whole number with optional sign. */
int64_t ptx_integer(ptx_parser *p);
/* Returns the type of a word like ".f32", or PTX_NO_TYPE. */
int ptx_type_of(const char *word);

/* Grows an array by doubling to hold one more; copies a text. */
void *ptx_grown(void *array, int n, size_t size);
char *ptx_copied(const char *text);

/* ---- ptx_operand.c: registers and operands ---- */

/* Parses the rest of a .reg directive. */
void ptx_declare_registers(ptx_parser *p);
/* Looks up a register or predicate by name into an operand; false if there is none. */
bool ptx_find_register(ptx_parser *p, const char *name, ptx_operand *o);
ptx_operand ptx_read_operand(ptx_parser *p);

/* ---- ptx_variable.c: variables ---- */

/* Parses the rest of .shared, .global, .const, .local or .param: [.align n] .type name [sizes] [=
 * values]. `cursor` is the position of the next variable of the space, NULL for a separate
 * allocation. */
void ptx_declare_variable(ptx_parser *p, ptx_space space, bool external, size_t *cursor,
                          ptx_symbol **symbols, int *n_symbols);
const ptx_symbol *ptx_find_symbol(const ptx_parser *p, const char *name);
void ptx_free_symbols(ptx_symbol *symbols, int n);

#endif
