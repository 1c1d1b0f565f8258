/// Parts of CSV files (RFC 4180, with line feeds).
#ifndef SN_IO_CSV_H
#define SN_IO_CSV_H

#include "io/io_recorder_file.h"

/// Writes a cell of two texts joined, in quotes if it holds a comma, a quote or the end of a line.
SN_NODISCARD sn_status sn_csv_text(sn_output *output, const char *text, const char *ending);
/// Writes three cells of numbers, each with a comma in front.
SN_NODISCARD sn_status sn_csv_vector(sn_output *output, const double vector[3]);

#endif
