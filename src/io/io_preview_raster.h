/// Which triangle each sample of a picture sees: a depth buffer, filled triangle by triangle.
///
/// A pixel has SN_RASTER_GRID^2 samples, one in each cell of a grid and no two in one row or column, so that
/// edges near the axes are as smooth as others. Corners are rounded to 1/256 of a sample and all tests are
/// made with whole numbers: triangles that share an edge leave no gap there and never fight for a sample.
/// Only rows row_begin..row_end-1 are held; bands of rows need no memory for the whole picture, and threads
/// that fill one each cannot meet.
#ifndef SN_IO_PREVIEW_RASTER_H
#define SN_IO_PREVIEW_RASTER_H

#include "base/base_context.h"

enum {
    SN_RASTER_GRID = 4,         ///< Samples of a pixel in a row.
    SN_RASTER_MAX_SIZE = 32768, ///< Samples in a row or a column.
    SN_RASTER_NOTHING = -1
};

/// A corner in homogeneous coordinates: it lies at (x / w, y / w) in samples, to the right and down from the
/// upper left corner of the picture. Of two things at a sample the one with the larger z / w is nearer.
typedef struct sn_raster_corner {
    double x, y, z, w;
} sn_raster_corner;

typedef struct sn_raster {
    int32_t width, height;      ///< Samples of the whole picture, at most SN_RASTER_MAX_SIZE.
    int32_t row_begin, row_end; ///< Rows held.
    double near;                ///< What lies below this w is cut off; > 0.
    float *depth;               ///< [row_end - row_begin, width]; -INFINITY: nothing
    int32_t *triangle;          ///< The same, or SN_RASTER_NOTHING. NULL: not wanted.
} sn_raster;

void sn_raster_clear(sn_raster *raster);

/// Draws a triangle, from whichever side it is seen. One with a number that is not finite is left out.
void sn_raster_draw(sn_raster *raster, const sn_raster_corner *a, const sn_raster_corner *b,
                    const sn_raster_corner *c, int32_t triangle);

/// Rows of the whole picture that a triangle may touch: first and last; first > last if there are none.
void sn_raster_rows(const sn_raster *raster, const sn_raster_corner *a, const sn_raster_corner *b,
                    const sn_raster_corner *c, int32_t out_rows[2]);

/// Where a sample of the whole picture lies.
void sn_raster_place(int32_t column, int32_t row, double out[2]);

#endif
