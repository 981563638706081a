/* The parser of PTX: its state, and what its files have of each other. */
#ifndef TPRT_TEST_CUDA_PTX_PARSER_H
#define TPRT_TEST_CUDA_PTX_PARSER_H

#include "ptx_inside.h"

#include <setjmp.h>

enum { PTX_MOST_WORD = 200, PTX_POOL = 16 };

/* Registers that a .reg declares: prefix<count>, or one of this name. */
typedef struct ptx_declared {
  char prefix[64];
  int32_t count, first; /* count -1: the name alone */
  int bits, depth;
} ptx_declared;

typedef struct ptx_label {
  char name[64];
  int32_t at; /* -1: not seen yet */
  int line;
} ptx_label;

typedef struct ptx_parser {
  const char *at;
  int line, depth;
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

/* Ends the parsing with a message that names the line. */
_Noreturn void ptx_refuse(ptx_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- ptx_text.c: words ---- */

/* The next word into p->token, which is returned: a name or number, a string, a character. "" at
 * the end. */
const char *ptx_next(ptx_parser *p);
bool ptx_is(const ptx_parser *p, const char *word);
bool ptx_peek(ptx_parser *p, char c);   /* whether c comes next */
bool ptx_accept(ptx_parser *p, char c); /* takes c, if it comes next */
void ptx_expect(ptx_parser *p, char c); /* refuses everything else */
/* A number of any form into an operand; false if the word is none. */
bool ptx_number_of(const char *word, ptx_operand *o);
/* The next word, which is a whole number with or without sign. */
int64_t ptx_integer(ptx_parser *p);
/* The type that a word like ".f32" names, or PTX_NO_TYPE. */
int ptx_type_of(const char *word);

/* Room for one more in an array, which grows by doubling; a copy of a text. */
void *ptx_grown(void *array, int n, size_t size);
char *ptx_copied(const char *text);

/* ---- ptx_operand.c: registers and operands ---- */

/* What follows .reg. */
void ptx_declare_registers(ptx_parser *p);
/* The register or predicate of a name into an operand; false if there is none. */
bool ptx_find_register(ptx_parser *p, const char *name, ptx_operand *o);
ptx_operand ptx_read_operand(ptx_parser *p);

/* ---- ptx_variable.c: memory with a name ---- */

/* What follows .shared, .global, .const, .local, .param: [.align n] .type name [sizes] [= values].
 * `cursor` is where the next variable of the space goes, NULL for memory of its own. */
void ptx_declare_variable(ptx_parser *p, ptx_space space, bool external, size_t *cursor,
                          ptx_symbol **symbols, int *n_symbols);
const ptx_symbol *ptx_find_symbol(const ptx_parser *p, const char *name);
void ptx_free_symbols(ptx_symbol *symbols, int n);

#endif
