/// contacts.csv: a row per contact and frame.
///
/// Columns frame, time_s, body, shape, vertex, x_m, y_m, z_m, nx, ny, nz, fx_N, fy_N, fz_N, depth_m,
/// sticking: as in sn_contact, body and shape by name, `sticking` 1 or 0. Numbers read back to the same bits.
#ifndef SN_IO_CONTACT_CSV_H
#define SN_IO_CONTACT_CSV_H

#include "io/io_recorder_file.h"
#include "io/io_recorder_frame.h"

#define SN_CONTACT_FILE "contacts.csv"

/// The growing file. All zero: closed.
typedef struct sn_contact_csv {
    sn_output output;
} sn_contact_csv;

/// Makes directory/contacts.csv with the columns' names.
SN_NODISCARD sn_status sn_contact_csv_open(sn_context *ctx, const char *directory, sn_contact_csv *csv);
/// Opens it again, cut back to `size` bytes. @return as sn_output_reopen().
SN_NODISCARD sn_status sn_contact_csv_reopen(sn_context *ctx, const char *directory, int64_t size,
                                             sn_contact_csv *csv);
/// Bytes of whole frames so far, for sn_contact_csv_reopen().
int64_t sn_contact_csv_size(const sn_contact_csv *csv);
/// Adds the contacts of a frame: all or none.
SN_NODISCARD sn_status sn_contact_csv_frame(sn_contact_csv *csv, const sn_frame_view *frame);
SN_NODISCARD sn_status sn_contact_csv_finish(sn_contact_csv *csv);
/// Closes the file, which keeps its whole frames. Fine on a closed one.
void sn_contact_csv_abandon(sn_contact_csv *csv);

#endif
