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
static void put_series(sn_json *json, const char *body, const sn_vtu_frames *frames) {
    json->lines = true;
    sn_json_open(json, '{');
    sn_json_put_text(json, "file-series-version", "1.0");
    sn_json_key(json, "files");
    sn_json_open(json, '[');
    for (int32_t i = 0; i < frames->count; i++) {
        char name[SN_VTU_NAME_SIZE];
        sn_vtu_name(body, frames->index[i], name);
        sn_json_open(json, '{');
        sn_json_put_text(json, "name", name);
        sn_json_put_number(json, "time", frames->time[i]);
        sn_json_close(json, '}');
    }
    sn_json_close(json, ']');
    sn_json_close(json, '}');
    sn_json_raw(json, "\n");
}

static void put_pvd(sn_json *text, int32_t body_count, char *const *bodies, const sn_vtu_frames *frames) {
    sn_json_raw(text, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                      "byte_order=\"LittleEndian\">\n<Collection>\n");
    for (int32_t f = 0; f < frames->count; f++)
        for (int32_t i = 0; i < body_count; i++) {
            char name[SN_VTU_NAME_SIZE], entry[sizeof name + 96], time[SN_JSON_NUMBER_SIZE];
            sn_vtu_name(bodies[i], frames->index[f], name);
            sn_json_format_number(frames->time[f], time);
            snprintf(entry, sizeof entry, "<DataSet timestep=\"%s\" part=\"%d\" file=\"%s\"/>\n", time, i,
                     name);
            sn_json_raw(text, entry);
        }
    sn_json_raw(text, "</Collection>\n</VTKFile>\n");
}

/// Writes the text, if it could be made, and releases it.
static sn_status write_list(sn_json *text, const char *directory, const char *name) {
    sn_status status = text->status;
    if (status == SN_OK)
        status = sn_output_write_whole(text->ctx, directory, name, text->text, text->length);
    sn_json_release(text);
    return status;
}

sn_status sn_vtu_list(sn_context *ctx, const char *directory, int32_t body_count, char *const *bodies,
                      const sn_vtu_frames *frames) {
    sn_status status = SN_OK;
    sn_json text = sn_json_make(ctx);
    put_pvd(&text, body_count, bodies, frames);
    SN_TRY(write_list(&text, directory, "frames.pvd"));
    for (int32_t i = 0; i < body_count; i++) {
        char name[SN_VTU_NAME_SIZE];
        int length = snprintf(name, sizeof name, "%s.vtu.series", bodies[i]);
        SN_ASSERT(length > 0 && (size_t)length < sizeof name);
        (void)length;
        text = sn_json_make(ctx);
        put_series(&text, bodies[i], frames);
        SN_TRY(write_list(&text, directory, name));
    }
cleanup:
    return status;
}
