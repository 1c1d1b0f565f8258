#include "io/io_recorder_stats.h"

#include "sim/sim_model.h"

const char *sn_step_status_word(sn_step_status status) {
    static const char *const words[] = {"converged", "budget", "stalled"};
    return words[status];
}

const char *sn_stop_test_word(sn_stop_test test) {
    static const char *const words[] = {"budget", "displacement", "rounding", "line_search"};
    return words[test];
}

// ---- Life

static bool is_obstacle(const sn_model *model, int32_t shape) {
    for (int32_t p = 0; p < model->pair_count; p++)
        if (model->pairs[p].shape == shape)
            return true;
    return false;
}

sn_status sn_run_stats_init(sn_run_stats *stats, sn_context *ctx, const sn_model *model) {
    sn_status status = SN_OK;
    *stats = (sn_run_stats){.line = sn_json_make(ctx)};
    SN_TRY_NEW(ctx, stats->obstacle, model->shape_count);
    for (int32_t shape = 0; shape < model->shape_count; shape++)
        if (is_obstacle(model, shape))
            stats->obstacle[stats->obstacle_count++] = shape;
cleanup:
    return status;
}

sn_status sn_run_stats_open(sn_run_stats *stats, const char *directory) {
    return sn_output_open(stats->line.ctx, directory, SN_STATS_FILE, SN_OUTPUT_GROWING, &stats->output);
}

sn_status sn_run_stats_reopen(sn_run_stats *stats, const char *directory, int64_t size) {
    return sn_output_reopen(stats->line.ctx, directory, SN_STATS_FILE, size, &stats->output);
}

int64_t sn_run_stats_size(const sn_run_stats *stats) {
    return stats->output.record_end;
}

sn_status sn_run_stats_finish(sn_run_stats *stats) {
    return sn_output_finish(&stats->output);
}

void sn_run_stats_release(sn_run_stats *stats) {
    sn_context *ctx = stats->line.ctx;
    if (!ctx)
        return;
    sn_output_abandon(&stats->output);
    SN_RELEASE(ctx, stats->obstacle);
    sn_json_release(&stats->line);
    *stats = (sn_run_stats){0};
}

// ---- Lines

static void put_energies(sn_json *json, const sn_energies *energy) {
    sn_json_key(json, "energy");
    sn_json_open(json, '{');
    sn_json_put_number(json, "kinetic", energy->kinetic);
    sn_json_put_number(json, "elastic", energy->elastic);
    sn_json_put_number(json, "attachment", energy->attachment);
    sn_json_put_number(json, "contact", energy->contact);
    sn_json_put_number(json, "external", energy->external);
    sn_json_close(json, '}');
}

static void put_times(sn_json *json, const sn_step_times *ms) {
    sn_json_key(json, "ms");
    sn_json_open(json, '{');
    sn_json_put_number(json, "detect", ms->detect);
    sn_json_put_number(json, "local", ms->local);
    sn_json_put_number(json, "gradient", ms->gradient);
    sn_json_put_number(json, "sweep", ms->sweep);
    sn_json_put_number(json, "kept", ms->kept);
    sn_json_put_number(json, "other", ms->other);
    sn_json_put_number(json, "total", ms->total);
    sn_json_close(json, '}');
}

/// What the bodies do to each obstacle.
static sn_status put_obstacles(sn_run_stats *stats, const sn_state *state) {
    sn_status status = SN_OK;
    sn_json *json = &stats->line;
    sn_json_key(json, "obstacles");
    sn_json_open(json, '[');
    for (int32_t i = 0; i < stats->obstacle_count; i++) {
        sn_contact_sum sum;
        SN_TRY(sn_state_contact_sum(state, stats->obstacle[i], &sum));
        sn_json_open(json, '{');
        sn_json_put_text(json, "name", sn_model_shape(sn_state_model(state), stats->obstacle[i])->name);
        sn_json_put_integer(json, "contacts", sum.active);
        sn_json_put_numbers(json, "force", sum.force, 3);
        sn_json_put_numbers(json, "moment", sum.moment, 3);
        sn_json_put_number(json, "max_depth", sum.max_depth);
        sn_json_close(json, '}');
    }
    sn_json_close(json, ']');
cleanup:
    return status;
}

static void put_step(sn_json *json, const sn_step_info *info) {
    sn_json_put_number(json, "time", info->time);
    sn_json_put_text(json, "status", sn_step_status_word(info->status));
    sn_json_put_integer(json, "iterations", info->iterations);
    sn_json_put_integer(json, "evaluations", info->evaluations);
    sn_json_put_integer(json, "factorizations", info->factorizations);
    put_energies(json, &info->energy);
    sn_json_put_number(json, "objective_first", info->objective_first);
    sn_json_put_number(json, "objective_last", info->objective_last);
    sn_json_put_number(json, "gradient_norm", info->gradient_norm);
    sn_json_put_number(json, "relative_gradient", info->relative_gradient);
    sn_json_put_text(json, "stop_test", sn_stop_test_word(info->stop_test));
    sn_json_put_number(json, "step_error", info->step_error);
    sn_json_put_integer(json, "active_contacts", info->active_contacts);
    sn_json_put_integer(json, "dropped_contacts", info->dropped_contacts);
    sn_json_put_number(json, "max_penetration", info->max_penetration);
    sn_json_put_number(json, "min_det_F", info->min_det_F);
    sn_json_put_integer(json, "inverted", info->inverted);
}

sn_status sn_run_stats_frame(sn_run_stats *stats, const sn_frame_view *frame) {
    sn_status status = SN_OK;
    sn_json *json = &stats->line;
    sn_json_clear(json);
    sn_json_open(json, '{');
    sn_json_put_integer(json, "frame", frame->index);
    put_step(json, frame->info);
    if (stats->obstacle_count > 0)
        SN_TRY(put_obstacles(stats, frame->state));
    put_times(json, &frame->info->ms);
    sn_json_close(json, '}');
    sn_json_raw(json, "\n");
    SN_TRY(json->status);
    SN_TRY(sn_output_write(&stats->output, json->text, json->length));
    SN_TRY(sn_output_record(&stats->output));
cleanup:
    return status;
}
