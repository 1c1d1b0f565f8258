#include "io/io_probe.h"

#include "base/base_field.h"
#include "io/io_csv.h"
#include "io/io_def.h"
#include "sim/sim_locate.h"

#include <string.h>

/// A point is outside of its body from this part of the mean edge on.
#define PLACE_SLACK 1e-6

typedef struct probe {
    char *name;
    bool is_point;
    int32_t index; ///< Of the body or shape.
    sn_body_place place;
} probe;

struct sn_probes {
    sn_context *ctx;
    const sn_model *model;
    sn_output output;
    int32_t count;
    probe *probe; ///< [count]
};

// ---- Finding

static const char *name_of(const sn_model *model, bool is_body, int32_t index) {
    return is_body ? sn_model_body(model, index).name : sn_model_shape(model, index)->name;
}

static sn_status find_name(sn_context *ctx, const sn_model *model, bool is_body, const char *name,
                           int32_t count, int32_t *out_index) {
    char known[512] = "";
    const char *nearest = NULL;
    for (int32_t i = 0; i < count; i++) {
        const char *candidate = name_of(model, is_body, i);
        if (strcmp(candidate, name) == 0) {
            *out_index = i;
            return SN_OK;
        }
        sn_text_append(known, sizeof known, "%s%.64s", known[0] ? ", " : "", candidate);
        sn_text_nearest(name, candidate, &nearest);
    }
    return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%.64s: there is no such %s%s%s; allowed: %s", name,
                   is_body ? "body" : "rigid thing", nearest ? "; did you mean " : "", nearest ? nearest : "",
                   known[0] ? known : "none, because the model has none");
}

sn_status sn_probe_find(sn_context *ctx, const sn_model *model, const sn_probe_def *def, int32_t *out_index) {
    if (!def->body == !def->rigid)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "%s body %s rigid is given; allowed: one of them, the other NULL",
                       def->body ? "both" : "neither", def->body ? "and" : "nor");
    if (def->rigid)
        return find_name(ctx, model, false, def->rigid, model->shape_count, out_index);
    sn_status status = sn_field_check(ctx, &sn_probe_fields, def);
    return status < 0 ? status : find_name(ctx, model, true, def->body, model->body_count, out_index);
}

// ---- Life

static sn_status check_name(const sn_probes *probes, int32_t index, const char *name) {
    if (!name || !*name)
        return sn_fail(probes->ctx, SN_ERR_INVALID_ARGUMENT, "probe %d has no name", index);
    for (int32_t i = 0; i < index; i++)
        if (strcmp(probes->probe[i].name, name) == 0)
            return sn_fail(probes->ctx, SN_ERR_INVALID_ARGUMENT,
                           "two probes have the name %.64s; allowed: one, because it names the columns",
                           name);
    return SN_OK;
}

/// Finds the place in the body that a point stands for.
static void place_point(const sn_probes *probes, probe *made, const sn_probe_def *def) {
    made->place = sn_body_locate(probes->model, made->index, def->point);
    if (made->place.distance > PLACE_SLACK * probes->model->edge_mean)
        sn_log(probes->ctx, SN_LOG_WARNING,
               "probe %s: its point lies outside of body %s; moved by %g m into it", made->name, def->body,
               made->place.distance);
}

static sn_status init_probe(sn_probes *probes, int32_t index, const sn_probe_def *def) {
    sn_status status = SN_OK;
    probe *made = &probes->probe[index];
    SN_TRY(check_name(probes, index, def->name));
    status = sn_probe_find(probes->ctx, probes->model, def, &made->index);
    if (status < 0) {
        sn_message_prefix(probes->ctx, "probe %.64s: ", def->name);
        goto cleanup;
    }
    SN_TRY(sn_new_text(probes->ctx, def->name, &made->name));
    probes->count = index + 1;
    made->is_point = def->body != NULL;
    if (made->is_point)
        place_point(probes, made, def);
cleanup:
    return status;
}

sn_status sn_probes_create(sn_context *ctx, const sn_model *model, const sn_output_def *def,
                           sn_probes **out_probes) {
    sn_status status = SN_OK;
    sn_probes *probes = NULL;
    if (def->probe_count < 0 || (def->probe_count > 0 && !def->probes))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "output: probe_count is %d and probes %s; allowed: 0 or more, with as many probes",
                       def->probe_count, def->probes ? "are given" : "is NULL");
    SN_TRY_NEW_ZEROED(ctx, probes, 1);
    probes->ctx = ctx;
    probes->model = model;
    SN_TRY_NEW_ZEROED(ctx, probes->probe, def->probe_count);
    for (int32_t i = 0; i < def->probe_count; i++)
        SN_TRY(init_probe(probes, i, &def->probes[i]));
    *out_probes = probes;
    probes = NULL;
cleanup:
    sn_probes_destroy(&probes);
    return status;
}

void sn_probes_destroy(sn_probes **probes) {
    if (!probes || !*probes)
        return;
    sn_probes *old = *probes;
    sn_context *ctx = old->ctx;
    sn_output_abandon(&old->output);
    for (int32_t i = 0; i < old->count; i++)
        sn_release(ctx, old->probe[i].name);
    SN_RELEASE(ctx, old->probe);
    sn_release(ctx, old);
    *probes = NULL;
}

// ---- The file

static sn_status write_columns(sn_probes *probes) {
    static const char *const point_columns[] = {".x_m", ".y_m", ".z_m", ".vx_m_s", ".vy_m_s", ".vz_m_s"};
    static const char *const shape_columns[] = {".fx_N", ".fy_N", ".fz_N", ".mx_Nm", ".my_Nm", ".mz_Nm"};
    sn_status status = SN_OK;
    SN_TRY(sn_output_text(&probes->output, "frame,time_s"));
    for (int32_t i = 0; i < probes->count; i++)
        for (int column = 0; column < 6; column++) {
            const probe *p = &probes->probe[i];
            SN_TRY(sn_output_text(&probes->output, ","));
            SN_TRY(sn_csv_text(&probes->output, p->name,
                               p->is_point ? point_columns[column] : shape_columns[column]));
        }
    SN_TRY(sn_output_text(&probes->output, "\n"));
    SN_TRY(sn_output_record(&probes->output));
cleanup:
    return status;
}

sn_status sn_probes_open(sn_probes *probes, const char *directory) {
    sn_status status =
        sn_output_open(probes->ctx, directory, SN_PROBE_FILE, SN_OUTPUT_GROWING, &probes->output);
    if (status == SN_OK)
        status = write_columns(probes);
    if (status < 0)
        sn_output_abandon(&probes->output);
    return status;
}

sn_status sn_probes_reopen(sn_probes *probes, const char *directory, int64_t size) {
    return sn_output_reopen(probes->ctx, directory, SN_PROBE_FILE, size, &probes->output);
}

int64_t sn_probes_size(const sn_probes *probes) {
    return probes->output.record_end;
}

/// Place and velocity of a point, or force and moment on a shape.
static sn_status measure(const probe *p, const sn_state *state, double out_first[3], double out_second[3]) {
    if (p->is_point) {
        sn_body_place_vector(&p->place, sn_state_positions(state), out_first);
        sn_body_place_vector(&p->place, sn_state_velocities(state), out_second);
        return SN_OK;
    }
    sn_contact_sum sum;
    sn_status status = sn_state_contact_sum(state, p->index, &sum);
    if (status == SN_OK) {
        memcpy(out_first, sum.force, sizeof sum.force);
        memcpy(out_second, sum.moment, sizeof sum.moment);
    }
    return status;
}

sn_status sn_probes_frame(sn_probes *probes, const sn_frame_view *frame) {
    sn_status status = SN_OK;
    sn_output *output = &probes->output;
    SN_TRY(sn_output_format(output, "%d,", frame->index));
    SN_TRY(sn_output_number(output, sn_state_time(frame->state)));
    for (int32_t i = 0; i < probes->count; i++) {
        double first[3], second[3];
        SN_TRY(measure(&probes->probe[i], frame->state, first, second));
        SN_TRY(sn_csv_vector(output, first));
        SN_TRY(sn_csv_vector(output, second));
    }
    SN_TRY(sn_output_text(output, "\n"));
    SN_TRY(sn_output_record(output));
cleanup:
    return status;
}

sn_status sn_probes_finish(sn_probes *probes) {
    return sn_output_finish(&probes->output);
}
