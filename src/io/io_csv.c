#include "io/io_csv.h"

#include <string.h>

/// Writes a text; inside of quotes each quote is doubled.
static sn_status write_escaped(sn_output *output, const char *text) {
    sn_status status = SN_OK;
    for (; *text; text++) {
        SN_TRY(sn_output_write(output, text, 1));
        if (*text == '"')
            SN_TRY(sn_output_write(output, text, 1));
    }
cleanup:
    return status;
}

sn_status sn_csv_text(sn_output *output, const char *text, const char *ending) {
    sn_status status = SN_OK;
    const char *special = ",\"\r\n";
    bool quoted = strpbrk(text, special) || strpbrk(ending, special);
    if (quoted)
        SN_TRY(sn_output_text(output, "\""));
    SN_TRY(write_escaped(output, text));
    SN_TRY(write_escaped(output, ending));
    if (quoted)
        SN_TRY(sn_output_text(output, "\""));
cleanup:
    return status;
}

sn_status sn_csv_vector(sn_output *output, const double vector[3]) {
    sn_status status = SN_OK;
    for (int axis = 0; axis < 3; axis++) {
        SN_TRY(sn_output_text(output, ","));
        SN_TRY(sn_output_number(output, vector[axis]));
    }
cleanup:
    return status;
}
