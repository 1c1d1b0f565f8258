/// Vector operations with the same bits for any number of threads.
#ifndef SN_SOLVE_VECTOR_H
#define SN_SOLVE_VECTOR_H

#include "base/base_context.h"

/// Sum of a_i b_i over `count` numbers.
double sn_vector_dot(sn_context *ctx, int32_t count, const double *a, const double *b);
/// y += factor x.
void sn_vector_add(sn_context *ctx, int32_t count, double factor, const double *x, double *y);
/// out = x + factor d.
void sn_vector_move(sn_context *ctx, int32_t count, const double *x, double factor, const double *d,
                    double *out);
/// out = -x.
void sn_vector_negate(sn_context *ctx, int32_t count, const double *x, double *out);
/// Largest Euclidean length of the `count` 3-vectors in `a`. NaN if any is.
double sn_vector_max_length(int32_t count, const double *a);

#endif
