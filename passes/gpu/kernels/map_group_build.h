/* The kernel of several nests while it is written: what its files share. */
#ifndef TP_PASSES_MAP_GROUP_BUILD_H
#define TP_PASSES_MAP_GROUP_BUILD_H

#include "passes/gpu/kernels/map_group.h"

/* What a thread has of a buffer: its elements, section by section, or one number. */
typedef struct tp__group_kept {
  int nest; /* from the one behind it on */
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
  bool is_looped, in_loop; /* in_loop: elements are there to be read */
  bool stores_elements;
  MlirValue row, positions[TP_MAP_ROW_ELEMENTS];
  MlirValue inside[TP_MAP_ROW_ELEMENTS]; /* bits: does a row have these elements? null: always */
  MlirValue stores[TP_MAP_ROW_ELEMENTS]; /* the same, and is there such a row? */
  /* bits: is there such a row (null: always); does this thread store what it is */
  MlirValue exists, speaks;
  tp__group_kept *items;
  size_t n, capacity;
} tp__group_builder;

/* ---- map_group_places.c ---- */
/* The number of the entry that has what the operand is in front of the nest, or -1. */
int tp__group_find_kept(const tp__group_builder *b, int nest, int operand);
/* A new entry: what the nest makes, or, is_read, what it finds in memory. -1: memory ran out. */
int tp__group_add_kept(tp__group_builder *b, int nest, int operand, bool is_read);
/* Does a nest behind access the buffer, or, is_written, write it? */
bool tp__group_is_used_behind(const tp__group_builder *b, int nest, MlirValue memref,
                              bool is_written);
/* Is the result still what memory is to hold at the end? */
bool tp__group_is_stored(const tp__group_builder *b, int nest, MlirValue memref);
/* Which row a thread has, and which of those that share it the thread is. */
void tp__group_build_rows(tp__group_builder *b);
/* Which elements of it, where all are kept. */
void tp__group_build_sections(tp__group_builder *b);
/* A section at a time, which loops find. */
void tp__group_begin_loops(tp__group_builder *b);
/* Without rows: a thread for each group of neighbors; what follows goes into an scf.if. */
void tp__group_build_items(tp__group_builder *b, int64_t n_items);
/* The indices of the nest's loops in the row, and, if section is not negative, of its first element
 * there. */
void tp__group_build_at(const tp__group_builder *b, const tp__map_nest *n, int section,
                        MlirValue *at);

#endif
