#include "io/io_vtu_series.h"

#include "io/io_json.h"
#include "io/io_recorder_file.h"

#include <stdio.h>

void sn_vtu_name(const char *body, int32_t frame, char out[SN_VTU_NAME_SIZE]) {
    int length = snprintf(out, SN_VTU_NAME_SIZE, "%s.%06d.vtu", body, frame);
    SN_ASSERT(length > 0 && length < SN_VTU_NAME_SIZE);
    (void)length;
}

/// {"file-series-version": "1.0", "files": [{"name": "beam.000000.vtu", "time": 0}, ...]}
static void put_series(sn_json *json, const char *body, int32_t every, int32_t count, const double *time) {
    json->lines = true;
    sn_json_open(json, '{');
    sn_json_put_text(json, "file-series-version", "1.0");
    sn_json_key(json, "files");
    sn_json_open(json, '[');
    for (int32_t i = 0; i < count; i++) {
        char name[SN_VTU_NAME_SIZE];
        sn_vtu_name(body, i * every, name);
        sn_json_open(json, '{');
        sn_json_put_text(json, "name", name);
        sn_json_put_number(json, "time", time[i]);
        sn_json_close(json, '}');
    }
    sn_json_close(json, ']');
    sn_json_close(json, '}');
    sn_json_raw(json, "\n");
}

sn_status sn_vtu_series_write(sn_context *ctx, const char *directory, const char *body, int32_t every,
                              int32_t count, const double *time) {
    char name[SN_VTU_NAME_SIZE];
    int length = snprintf(name, sizeof name, "%s.vtu.series", body);
    SN_ASSERT(length > 0 && (size_t)length < sizeof name);
    (void)length;
    sn_json json = sn_json_make(ctx);
    put_series(&json, body, every, count, time);
    sn_status status = json.status;
    if (status == SN_OK)
        status = sn_output_write_whole(ctx, directory, name, json.text, json.length);
    sn_json_release(&json);
    return status;
}
