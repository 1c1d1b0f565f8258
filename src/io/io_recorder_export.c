#include "io/io_recorder_export.h"

#include "io/io_export.h"

#include <stdio.h>

/// A format that a definition can ask for, and its files: one for all bodies, or one for each.
typedef struct wanted_export {
    const char *format;
    bool per_body;
    size_t offset; ///< Of the bool in sn_output_def.
} wanted_export;

static const wanted_export exports[] = {{"mdd", true, offsetof(sn_output_def, mdd)},
                                        {"glb", false, offsetof(sn_output_def, glb)},
                                        {"usda", false, offsetof(sn_output_def, usda)},
                                        {"npz", false, offsetof(sn_output_def, npz)}};
enum { EXPORT_COUNT = sizeof exports / sizeof *exports };

static bool is_wanted(const sn_output_def *def, const wanted_export *export) {
    return *(const bool *)((const char *)def + export->offset);
}

static bool any_wanted(const sn_output_def *def) {
    for (int i = 0; i < EXPORT_COUNT; i++)
        if (is_wanted(def, &exports[i]))
            return true;
    return false;
}

sn_status sn_run_exports_write(sn_context *ctx, const char *directory, const sn_output_def *def) {
    sn_status status = SN_OK;
    sn_results *results = NULL;
    const sn_export_def all = sn_export_def_default();
    if (!any_wanted(def))
        return SN_OK;
    SN_TRY(sn_results_open(ctx, directory, &results));
    for (int i = 0; i < EXPORT_COUNT; i++) {
        if (!is_wanted(def, &exports[i]))
            continue;
        status = sn_export_into(results, exports[i].format, directory, &all, NULL);
        if (status < 0) {
            sn_message_prefix(ctx, "output.%s: ", exports[i].format);
            break;
        }
    }
cleanup:
    sn_results_close(&results);
    return status;
}

sn_status sn_run_exports_there(sn_context *ctx, const char *directory, const sn_output_def *def,
                               const sn_body_names *bodies, bool *out_there) {
    sn_status status = SN_OK;
    bool there = true;
    for (int i = 0; i < EXPORT_COUNT && there; i++)
        for (int32_t b = 0;
             is_wanted(def, &exports[i]) && b < (exports[i].per_body ? bodies->count : 1) && there; b++) {
            char name[SN_EXPORT_NAME_SIZE];
            snprintf(name, sizeof name, "%s.%s", exports[i].per_body ? bodies->name[b] : "frames",
                     exports[i].format);
            SN_TRY(sn_folder_has(ctx, directory, name, &there));
        }
    *out_there = there;
cleanup:
    return status;
}
