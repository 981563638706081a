/* Hops: how the devices of a group come by the elements that they read along a dimension that is
 * split over them.
 *
 * The devices hold a dimension of `size` elements in buffers of `buffer`, of which the valid
 * elements are a prefix. Each axis gives the ceil, in whole units: 64 elements in units of 16 are
 * 32, 32 and 0 on three devices, and 10 elements on 2x2 are 3, 2, 3 and 2. The same axes split
 * `points` points into parts of `part`, and point j reads the elements stride * j + offset + [0,
 * extent) that are inside the dimension. A device reads one run of elements, of equal length on
 * all: |stride| * (part - 1) + extent, from the least one of its points on.
 *
 * A plan puts the run together from pieces. Piece k of a device comes from the buffer of device
 * `owner + k`, where `owner` follows from the reader in one of two ways (`by`):
 *   by distance  owner = reader + nearest; pieces of neighbours are small and one's own is at hand,
 *     but a window that moves away from its
 *                reader (a reversal, a part of the dimension) meets a new distance on each device
 *   by start     owner = the device that holds the first element that is needed; as few pieces as
 *     there are owners of one run, which may
 *                send to several readers Where that moves as much as a gather of the dimension, or
 *                  takes very many pieces, the one piece is the whole dimension.
 *
 * Each piece is one permute of a slice of the buffer, the same slice on all devices, or nothing
 * where all devices have it themselves. The pieces are put into a workspace one after the other,
 * later ones over what stands in the padding of earlier ones; in it lies the run.
 *
 * Pure values, no allocation; a plan costs time in proportion to the number of devices. */
#ifndef TP_LIB_SHARDING_HOPS_H
#define TP_LIB_SHARDING_HOPS_H

#include "tp/spec.h"

enum { TP__MAX_PIECES = 16 };

typedef enum tp__hops_by { TP__BY_DISTANCE, TP__BY_START, TP__BY_GATHER } tp__hops_by;

typedef struct tp__reading {
  int n_axes; /* major to minor */
  int64_t axes[TP_MAX_AXES];
  int64_t size, points;
  int64_t unit; /* divides size; 0 is as 1 */
  int64_t stride, offset, extent;
} tp__reading;

typedef struct tp__piece {
  int64_t from, to; /* the slice of the buffer; empty: nobody needs this piece */
  bool moves;       /* some device needs it of another */
} tp__piece;

typedef struct tp__hops {
  tp__reading reading;
  int64_t devices, buffer, part, run; /* run: elements that each device gets */
  tp__hops_by by;
  int64_t nearest; /* TP__BY_DISTANCE */
  int n_pieces;
  tp__piece pieces[TP__MAX_PIECES];
  int64_t low,
      /* of the workspace: its first element, seen from the first one of a device's first owner, and
       * its size */
      length;
  int n_moving;  /* collectives */
  int64_t moved; /* elements along the dimension that a device sends */
} tp__hops;

/* What device `p` needs of the dimension. */
typedef struct tp__needed {
  int64_t run;      /* its first element; may be outside of the dimension */
  int64_t from, to; /* the elements that its points read; from == to: none */
  int64_t owner;    /* of the first of them */
} tp__needed;

/* False where there are no points, or where dimensions in units would have to be gathered. */
bool tp__plan_hops(const tp__reading *reading, tp__hops *hops);

tp__needed tp__hops_needed(const tp__hops *hops, int64_t p);
/* The device whose buffer is piece k of device p; -1 when p does not need that piece. Not for
 * TP__BY_GATHER. */
int64_t tp__hops_source(const tp__hops *hops, const tp__needed *needed, int64_t p, int k);
/* Where piece k of device p goes in the workspace. */
int64_t tp__hops_place(const tp__hops *hops, const tp__needed *needed, int64_t p, int k);
/* Where the run of device p begins in the workspace; 0 for a device that needs nothing. */
int64_t tp__hops_offset(const tp__hops *hops, const tp__needed *needed, int64_t p);

#endif
