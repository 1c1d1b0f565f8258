#include "factor/factor_internal.h"

#include <string.h>

sn_status sn_factor_jacobian(sn_factor *factor, int32_t width, const double *kept_rows, double *out_rows) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = factor->context;
    if (!factor->has_numbers)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "the factor holds no numbers: factor a matrix first");
    if (width < 1 || width > 3)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%d columns of J; 1 to 3 are allowed", (int)width);
    if ((!out_rows && factor->info.n > 0) || (!kept_rows && factor->kept_count > 0))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "no array for the kept rows or for the columns of J");
    // y1 = 0 is what a forward sweep makes of b1 = 0.
    memset(out_rows, 0, (size_t)factor->info.n * (size_t)width * sizeof *out_rows);
    return sn_factor_backward(factor, width, out_rows, kept_rows);
}
