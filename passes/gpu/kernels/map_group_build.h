/* State shared by the files that build the kernel of several nests. */
#ifndef TP_PASSES_MAP_GROUP_BUILD_H
#define TP_PASSES_MAP_GROUP_BUILD_H

#include "passes/gpu/kernels/map_group.h"

/* The values of a buffer that a thread keeps: its elements, section by section, or one number per
 * row. A section is one vector of adjacent elements. */
typedef struct tp__group_kept {
  int nest; /* valid after this nest */
  MlirValue memref;
  tp__group_access access;
  int place[TP_MAX_RANK];
  MlirValue values[TP_MAP_ROW_ELEMENTS];
} tp__group_kept;

typedef struct tp__group_builder {
  const tp__map_group *group;
  MlirOperation func, end;
  tp__map_sharing sharing;
  int lanes, n_sections;
  bool is_looped, in_loop; /* in_loop: the elements are available */
  bool stores_elements;
  MlirValue row, positions[TP_MAP_ROW_ELEMENTS];
  MlirValue inside[TP_MAP_ROW_ELEMENTS]; /* i1: these elements are in the row; null: always */
  MlirValue stores[TP_MAP_ROW_ELEMENTS]; /* i1: these elements are in the row, and the row exists */
  /* i1: the row exists (null: always); this thread stores the row's results */
  MlirValue exists, is_writer;
  tp__group_kept *items;
  size_t n, capacity;
} tp__group_builder;

/* ---- map_group_places.c ---- */
/* Returns the index of the entry that holds the operand's values before the nest, or -1. */
int tp__group_find_kept(const tp__group_builder *b, int nest, int operand);
/* Adds an entry for a result of the nest, or with is_read for a value that it reads from memory.
 * Returns its index, or -1 if memory ran out. */
int tp__group_add_kept(tp__group_builder *b, int nest, int operand, bool is_read);
/* True if a later nest accesses the buffer, or with is_written, writes it. */
bool tp__group_is_used_after(const tp__group_builder *b, int nest, MlirValue memref,
                             bool is_written);
/* True if this result is the buffer's final value and must be stored. */
bool tp__group_is_stored(const tp__group_builder *b, int nest, MlirValue memref);
/* Computes the row of the thread and the thread's number among those that share the row. */
void tp__group_build_rows(tp__group_builder *b);
/* Computes the elements of the thread in its row, if all are kept. */
void tp__group_build_sections(tp__group_builder *b);
/* Sets up a single section, whose position the loops set. */
void tp__group_begin_loops(tp__group_builder *b);
/* Without rows: gives each thread one group of adjacent elements. The following ops go into an
 * scf.if. */
void tp__group_build_items(tp__group_builder *b, int64_t n_items);
/* Computes the indices of the nest's row loops and, unless section is negative, of its loops over
 * the elements, for the section's first element. */
void tp__group_build_at(const tp__group_builder *b, const tp__map_nest *n, int section,
                        MlirValue *at);

#endif
