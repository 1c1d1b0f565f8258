/// NPY files (numpy's format, version 1.0): arrays that grow by frames, and fixed ones.
#ifndef SN_IO_NPY_H
#define SN_IO_NPY_H

#include "io/io_recorder_file.h"

/// Kinds of number, as NPY names them.
typedef enum sn_npy_kind { SN_NPY_FLOAT32 = 0, SN_NPY_FLOAT64 = 1, SN_NPY_INT32 = 2 } sn_npy_kind;
/// Bytes of a number.
size_t sn_npy_number_size(sn_npy_kind kind);

/// A growing array [frames, rows, columns]. All zero: closed.
typedef struct sn_npy {
    sn_output output;
    sn_npy_kind kind;
    int32_t rows, columns;
    int64_t frame_count;
} sn_npy;

/// Opens directory/name with no frames: a valid file from now on, and after each frame.
SN_NODISCARD sn_status sn_npy_open(sn_context *ctx, const char *directory, const char *name, sn_npy_kind kind,
                                   int32_t rows, int32_t columns, sn_npy *npy);
/// Opens it again, cut back to `frame_count` frames. @return as sn_output_reopen(); SN_ERR_READ too if it is
/// no array of that kind and shape.
SN_NODISCARD sn_status sn_npy_reopen(sn_context *ctx, const char *directory, const char *name,
                                     sn_npy_kind kind, int32_t rows, int32_t columns, int32_t frame_count,
                                     sn_npy *npy);
/// Whether sn_npy_reopen() would work. Changes nothing.
SN_NODISCARD sn_status sn_npy_can_reopen(sn_context *ctx, const char *directory, const char *name,
                                         sn_npy_kind kind, int32_t rows, int32_t columns,
                                         int32_t frame_count);
/// Appends a frame: [rows, columns] numbers of the array's kind.
SN_NODISCARD sn_status sn_npy_append(sn_npy *npy, const void *values);
SN_NODISCARD sn_status sn_npy_finish(sn_npy *npy);
/// Closes the file, which keeps its frames. Fine on a closed array.
void sn_npy_abandon(sn_npy *npy);

/// Writes a fixed array [rows, columns].
SN_NODISCARD sn_status sn_npy_write(sn_context *ctx, const char *directory, const char *name,
                                    sn_npy_kind kind, int32_t rows, int32_t columns, const void *values);

/// An array opened for reading: growing [frames, rows, columns], or fixed [rows, columns], which is one
/// frame. All zero: closed.
typedef struct sn_npy_input {
    sn_context *ctx; ///< NULL when closed.
    int descriptor;
    char *path;
    sn_npy_kind kind;
    int32_t rows, columns;
    int64_t frame_count; ///< That are announced and whole.
} sn_npy_input;

/// Opens an array that Sinew wrote, of `columns` columns and any number of rows from 1 on. @return SN_OK;
/// SN_ERR_READ: missing, unreadable, another kind of array, or a fixed one that was cut; SN_ERR_NO_MEMORY. On
/// error *input stays closed.
SN_NODISCARD sn_status sn_npy_input_open(sn_context *ctx, const char *directory, const char *name,
                                         sn_npy_kind kind, bool growing, int32_t columns,
                                         sn_npy_input *input);
/// Reads a frame: [rows, columns] numbers of the array's kind. @return SN_OK, SN_ERR_READ.
SN_NODISCARD sn_status sn_npy_input_read(const sn_npy_input *input, int64_t frame, void *values);
/// Fine on a closed array.
void sn_npy_input_close(sn_npy_input *input);

/// The first bytes of an NPY file that holds `shape` ("3, 4") of numbers of a kind; the numbers follow.
enum { SN_NPY_HEADER_SIZE = 128 };
void sn_npy_header(char header[SN_NPY_HEADER_SIZE], sn_npy_kind kind, const char *shape);
/// The same of `count` texts of `size` bytes each, filled up with zeros.
void sn_npy_text_header(char header[SN_NPY_HEADER_SIZE], size_t size, int32_t count);

#endif
