#include "io/io_checkpoint.h"
#include "io/io_contact_csv.h"
#include "io/io_def.h"
#include "io/io_player.h"
#include "io/io_preview_frame.h"
#include "io/io_probe.h"
#include "io/io_recorder_body.h"
#include "io/io_recorder_export.h"
#include "io/io_recorder_history.h"
#include "io/io_recorder_stats.h"
#include "io/io_recorder_summary.h"
#include "io/io_rigid.h"

#include "base/base_field_hash.h"
#include "base/base_util.h"
#include "sim/sim_hash.h"
#include "sinew/version.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const sn_quantity_names[SN_FIELD_COUNT] = {"displacement", "strain"};
const char *const sn_quantity_units[SN_FIELD_COUNT] = {"m", ""};

/// Where a recorder is.
typedef enum recorder_phase {
    RECORDER_OPEN,     ///< Takes frames.
    RECORDER_BROKEN,   ///< A frame failed: files and checkpoint no longer agree.
    RECORDER_FINISHED, ///< Takes no more frames.
} recorder_phase;

struct sn_recorder {
    sn_context *ctx;
    const sn_model *model;
    char *directory, *scene_path;
    sn_output_def def; ///< Its probes are not read.
    sn_run_info run;
    sn_run_identity identity;
    const char *precision; ///< NULL: not known.
    int lock;              ///< Of the folder; -1: none.
    recorder_phase phase;
    bool complete;    ///< What sn_recorder_finish() writes stands there already.
    bool has_summary; ///< Of an earlier end of the run.
    sn_run_totals totals;

    sn_recorded_bodies bodies;
    sn_rigid_record rigid; ///< Beside the NPY files of the bodies.
    sn_run_stats stats;
    sn_history history;
    sn_contact_csv contacts;
    sn_probes *probes;           ///< NULL: none.
    sn_player *player;           ///< NULL: not wanted.
    sn_preview_frames *previews; ///< NULL: not wanted.
    sn_checkpoint_buffer checkpoint;
    double *field_values[SN_FIELD_COUNT]; ///< [node_count]; NULL: not wanted.
};

// ---- Making

static sn_status check_arguments(sn_context *ctx, const sn_model *model, const char *directory,
                                 const sn_output_def *def, const sn_run_info *run) {
    if (!model || !directory || !*directory || !def || !run)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "recorder: model, directory, def and run must be given");
    sn_status status = sn_field_check(ctx, &sn_output_fields, def);
    if (status < 0)
        return status;
    if (!isfinite(run->frame_seconds) || run->frame_seconds <= 0 || run->frame_total < 0)
        return sn_fail(
            ctx, SN_ERR_INVALID_ARGUMENT,
            "recorder: frame_seconds is %g and frame_total %d; more than 0 and 0 or more are allowed",
            run->frame_seconds, run->frame_total);
    return SN_OK;
}

/// Hash of texture coordinates and groups, which stand in OBJ files.
static uint64_t hash_look(uint64_t hash, const sn_surface_look *look, int32_t triangle_count) {
    size_t triangles = (size_t)triangle_count;
    hash = sn_hash(hash, look->uv, 2 * (size_t)look->uv_count * sizeof *look->uv);
    if (look->triangle_uv)
        hash = sn_hash(hash, look->triangle_uv, 3 * triangles * sizeof *look->triangle_uv);
    if (look->triangle_group)
        hash = sn_hash(hash, look->triangle_group, triangles * sizeof *look->triangle_group);
    for (int32_t g = 0; g < look->group_count; g++)
        hash = sn_hash(hash, look->group[g], strlen(look->group[g]) + 1);
    return hash;
}

/// Hash of all that decides which files there are and what stands in them, besides the model's numbers.
static uint64_t hash_outputs(const sn_model *model, const sn_output_def *def) {
    sn_output_def wanted = *def;
    sn_model_info info = sn_model_get_info(model);
    // How often the run can be resumed from changes nothing in the files.
    wanted.checkpoint_every = 0;
    uint64_t hash = sn_field_hash(SN_HASH_START, &sn_output_fields, &wanted);
    for (int32_t i = 0; i < info.body_count; i++) {
        const sn_body_info body = sn_model_body(model, i);
        hash = sn_hash(hash, body.name, strlen(body.name) + 1);
        hash = hash_look(hash, sn_model_surface_look(model, i), body.surface_triangle_count);
    }
    for (int32_t i = 0; i < info.shape_count; i++)
        hash = sn_hash(hash, sn_model_shape(model, i)->name, strlen(sn_model_shape(model, i)->name) + 1);
    for (int32_t i = 0; i < def->probe_count; i++) {
        const sn_probe_def *probe = &def->probes[i];
        const char *texts[] = {probe->name, probe->body, probe->rigid};
        for (int t = 0; t < 3; t++)
            hash = sn_hash(hash, texts[t] ? texts[t] : "", texts[t] ? strlen(texts[t]) + 1 : 1);
        hash = sn_hash(hash, probe->point, sizeof probe->point);
    }
    return hash;
}

static sn_run_identity identify(const sn_model *model, const sn_output_def *def, const sn_run_info *run) {
    sn_run_identity identity = {.model_hash = sn_model_hash(model),
                                .stepper_hash = run->stepper ? sn_stepper_def_hash(run->stepper) : 0,
                                .output_hash = hash_outputs(model, def),
                                .frame_seconds = run->frame_seconds,
                                .substeps = run->substeps};
    snprintf(identity.version, sizeof identity.version, "%s", sn_version());
    return identity;
}

/// All memory, and no file yet.
static sn_status recorder_init(sn_recorder *recorder, const char *directory, const sn_output_def *def,
                               const sn_run_info *run) {
    sn_status status = SN_OK;
    sn_context *ctx = recorder->ctx;
    const sn_model *model = recorder->model;
    int32_t node_count = sn_model_get_info(model).node_count;
    recorder->def = *def;
    recorder->run = *run;
    recorder->checkpoint.ctx = ctx;
    SN_TRY(sn_new_text(ctx, directory, &recorder->directory));
    SN_TRY(sn_new_text(ctx, run->scene_path ? run->scene_path : "", &recorder->scene_path));
    recorder->run.scene_path = recorder->scene_path;
    if (def->probe_count != 0)
        SN_TRY(sn_probes_create(ctx, model, def, &recorder->probes));
    recorder->identity = identify(model, def, run);
    recorder->def.probes = NULL;
    recorder->precision = run->stepper ? sn_precision_name(run->stepper->precision) : NULL;
    recorder->run.stepper = NULL;
    SN_TRY(sn_run_stats_init(&recorder->stats, ctx, model));
    SN_TRY(sn_recorded_bodies_init(&recorder->bodies, ctx, model, recorder->directory, &recorder->def));
    if (def->npy)
        SN_TRY(sn_rigid_record_init(&recorder->rigid, ctx, model));
    if (def->player)
        SN_TRY(sn_player_create(ctx, model, def, run, &recorder->player));
    if (def->preview_every > 0)
        SN_TRY(sn_preview_frames_create(ctx, model, def, &recorder->previews));
    if (def->field_displacement)
        SN_TRY_NEW(ctx, recorder->field_values[SN_QUANTITY_DISPLACEMENT], node_count);
    if (def->field_strain)
        SN_TRY_NEW(ctx, recorder->field_values[SN_QUANTITY_STRAIN], node_count);
cleanup:
    return status;
}

static sn_status make_recorder(sn_context *ctx, const sn_model *model, const char *directory,
                               const sn_output_def *def, const sn_run_info *run, sn_recorder **out_recorder) {
    sn_status status = SN_OK;
    sn_recorder *recorder = NULL;
    SN_TRY(check_arguments(ctx, model, directory, def, run));
    SN_TRY_NEW_ZEROED(ctx, recorder, 1);
    recorder->ctx = ctx;
    recorder->model = model;
    recorder->lock = -1;
    SN_TRY(recorder_init(recorder, directory, def, run));
    *out_recorder = recorder;
    return SN_OK;
cleanup:
    sn_recorder_destroy(&recorder);
    return status;
}

static sn_status open_files(sn_recorder *recorder) {
    sn_status status = SN_OK;
    sn_context *ctx = recorder->ctx;
    SN_TRY(sn_run_stats_open(&recorder->stats, recorder->directory));
    SN_TRY(sn_history_open(ctx, recorder->directory, &recorder->history));
    SN_TRY(sn_recorded_bodies_open(&recorder->bodies));
    SN_TRY(sn_rigid_record_open(&recorder->rigid, recorder->directory));
    if (recorder->def.contacts)
        SN_TRY(sn_contact_csv_open(ctx, recorder->directory, &recorder->contacts));
    if (recorder->probes)
        SN_TRY(sn_probes_open(recorder->probes, recorder->directory));
    if (recorder->player)
        SN_TRY(sn_player_open(recorder->player, recorder->directory));
cleanup:
    return status;
}

sn_status sn_recorder_create(sn_context *context, const sn_model *model, const char *directory,
                             bool overwrite, const sn_output_def *def, const sn_run_info *run,
                             sn_recorder **out_recorder) {
    if (!context || !out_recorder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    sn_recorder *recorder = NULL;
    SN_TRY(make_recorder(context, model, directory, def, run, &recorder));
    SN_TRY(sn_folder_make(context, directory));
    SN_TRY(sn_folder_lock(context, directory, &recorder->lock));
    SN_TRY(sn_folder_clear(context, directory, &recorder->bodies.names, overwrite));
    SN_TRY(open_files(recorder));
    *out_recorder = recorder;
    return SN_OK;
cleanup:
    sn_recorder_destroy(&recorder);
    return status;
}

void sn_recorder_destroy(sn_recorder **recorder) {
    if (!recorder || !*recorder)
        return;
    sn_recorder *r = *recorder;
    sn_context *ctx = r->ctx;
    sn_recorded_bodies_release(&r->bodies);
    sn_rigid_record_release(&r->rigid);
    sn_run_stats_release(&r->stats);
    sn_history_release(ctx, &r->history);
    sn_contact_csv_abandon(&r->contacts);
    sn_probes_destroy(&r->probes);
    sn_player_destroy(&r->player);
    sn_preview_frames_destroy(&r->previews);
    sn_checkpoint_release(&r->checkpoint);
    sn_folder_unlock(&r->lock);
    for (int32_t f = 0; f < SN_FIELD_COUNT; f++)
        SN_RELEASE(ctx, r->field_values[f]);
    SN_RELEASE(ctx, r->directory);
    SN_RELEASE(ctx, r->scene_path);
    sn_release(ctx, r);
    *recorder = NULL;
}

// ---- Checkpoints

static sn_checkpoint make_head(const sn_recorder *recorder, const sn_state *state) {
    const sn_run_totals *totals = &recorder->totals;
    return (sn_checkpoint){.identity = recorder->identity,
                           .stats_size = sn_run_stats_size(&recorder->stats),
                           .contacts_size =
                               recorder->def.contacts ? sn_contact_csv_size(&recorder->contacts) : 0,
                           .probes_size = recorder->probes ? sn_probes_size(recorder->probes) : 0,
                           .history_hash = recorder->history.hash,
                           .state_size = sn_state_packed_size(state),
                           .frame_count = recorder->history.count,
                           .player_stride = recorder->player ? sn_player_stride(recorder->player) : 0,
                           .status_count = {totals->converged, totals->budget, totals->stalled},
                           .inverted_frames = totals->inverted,
                           .dropped_frames = totals->dropped};
}

static sn_status write_checkpoint(sn_recorder *recorder, const sn_checkpoint *head, const sn_state *state) {
    sn_status status = sn_checkpoint_reserve(&recorder->checkpoint, (size_t)head->state_size);
    if (status < 0)
        return status;
    sn_state_pack(state, sn_checkpoint_state(&recorder->checkpoint));
    return sn_checkpoint_write(&recorder->checkpoint, head, recorder->directory);
}

/// Looks at all files before the first one is cut, and reads the history.
static sn_status check_files(sn_recorder *recorder, const sn_checkpoint *head) {
    sn_status status = SN_OK;
    sn_context *ctx = recorder->ctx;
    const char *directory = recorder->directory;
    SN_TRY(sn_output_can_reopen(ctx, directory, SN_STATS_FILE, head->stats_size));
    SN_TRY(sn_recorded_bodies_can_reopen(&recorder->bodies, head->frame_count));
    SN_TRY(sn_rigid_record_can_reopen(&recorder->rigid, directory, head->frame_count));
    if (recorder->def.contacts)
        SN_TRY(sn_output_can_reopen(ctx, directory, SN_CONTACT_FILE, head->contacts_size));
    if (recorder->probes)
        SN_TRY(sn_output_can_reopen(ctx, directory, SN_PROBE_FILE, head->probes_size));
    if (recorder->player)
        SN_TRY(sn_player_can_reopen(recorder->player, directory, head->player_stride, head->frame_count));
    SN_TRY(sn_history_read(ctx, directory, head->frame_count, head->history_hash, &recorder->history));
cleanup:
    return status;
}

static sn_status reopen_files(sn_recorder *recorder, const sn_checkpoint *head) {
    sn_status status = SN_OK;
    sn_context *ctx = recorder->ctx;
    const char *directory = recorder->directory;
    SN_TRY(sn_run_stats_reopen(&recorder->stats, directory, head->stats_size));
    SN_TRY(sn_history_reopen(ctx, directory, &recorder->history));
    SN_TRY(sn_recorded_bodies_reopen(&recorder->bodies, head->frame_count));
    SN_TRY(sn_rigid_record_reopen(&recorder->rigid, directory, head->frame_count));
    if (recorder->def.contacts)
        SN_TRY(sn_contact_csv_reopen(ctx, directory, head->contacts_size, &recorder->contacts));
    if (recorder->probes)
        SN_TRY(sn_probes_reopen(recorder->probes, directory, head->probes_size));
    if (recorder->player)
        SN_TRY(sn_player_reopen(recorder->player, directory, head->player_stride, head->frame_count));
    SN_TRY(sn_folder_cut(ctx, directory, &recorder->bodies.names, head->frame_count));
cleanup:
    return status;
}

/// Finds out whether the results of all frames stand there, none of them removed since.
static sn_status find_results(sn_recorder *recorder, const sn_checkpoint *head) {
    sn_status status = SN_OK;
    bool page = true, exports = true;
    SN_TRY(sn_folder_has(recorder->ctx, recorder->directory, SN_SUMMARY_FILE, &recorder->has_summary));
    if (recorder->player)
        SN_TRY(sn_folder_has(recorder->ctx, recorder->directory, SN_PLAYER_FILE, &page));
    SN_TRY(sn_run_exports_there(recorder->ctx, recorder->directory, &recorder->def, &recorder->bodies.names,
                                &exports));
    recorder->complete = head->finished && recorder->has_summary && page && exports;
cleanup:
    return status;
}

static sn_status check_stride(const sn_recorder *recorder, const sn_checkpoint *head) {
    bool power = head->player_stride > 0 && (head->player_stride & (head->player_stride - 1)) == 0;
    if (recorder->player ? power : head->player_stride == 0)
        return SN_OK;
    return sn_fail(recorder->ctx, SN_ERR_READ, "%s/%s is damaged: the player keeps one frame in %d",
                   recorder->directory, SN_CHECKPOINT_FILE, head->player_stride);
}

static sn_status restore(sn_recorder *recorder, sn_state *state) {
    sn_status status = SN_OK;
    sn_state *found = NULL;
    sn_checkpoint head;
    SN_TRY(sn_folder_lock(recorder->ctx, recorder->directory, &recorder->lock));
    SN_TRY(sn_checkpoint_read(&recorder->checkpoint, recorder->directory, &head));
    SN_TRY(sn_run_identity_check(recorder->ctx, recorder->directory, &head.identity, &recorder->identity));
    SN_TRY(check_stride(recorder, &head));
    SN_TRY(sn_state_create(recorder->model, &found));
    status = sn_state_unpack(found, sn_checkpoint_state(&recorder->checkpoint), (size_t)head.state_size);
    if (status < 0) {
        sn_message_prefix(recorder->ctx, "%s/%s: ", recorder->directory, SN_CHECKPOINT_FILE);
        status = SN_ERR_READ;
        goto cleanup;
    }
    SN_TRY(check_files(recorder, &head));
    SN_TRY(find_results(recorder, &head));
    SN_TRY(reopen_files(recorder, &head));
    SN_TRY(sn_state_copy(state, found));
    recorder->totals = (sn_run_totals){head.frame_count - 1, head.status_count[0], head.status_count[1],
                                       head.status_count[2], head.inverted_frames, head.dropped_frames};
cleanup:
    sn_state_destroy(&found);
    return status;
}

sn_status sn_recorder_resume(sn_context *context, const sn_model *model, const char *directory,
                             const sn_output_def *def, const sn_run_info *run, sn_state *state,
                             int32_t *out_frame_count, sn_recorder **out_recorder) {
    if (!context || !out_recorder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    sn_recorder *recorder = NULL;
    if (!state || !out_frame_count || sn_state_model(state) != model)
        SN_TRY(sn_fail(context, SN_ERR_INVALID_ARGUMENT,
                       "recorder: a state of the model and out_frame_count must be given"));
    SN_TRY(make_recorder(context, model, directory, def, run, &recorder));
    SN_TRY(restore(recorder, state));
    *out_frame_count = recorder->totals.frames;
    *out_recorder = recorder;
    return SN_OK;
cleanup:
    sn_recorder_destroy(&recorder);
    return status;
}

// ---- Frames

/// Refuses a state of another model, whose arrays have other sizes.
static sn_status check_state(const sn_recorder *recorder, const sn_state *state) {
    if (sn_state_model(state) == recorder->model)
        return SN_OK;
    return sn_fail(recorder->ctx, SN_ERR_INVALID_ARGUMENT,
                   "recorder: the state belongs to another model than the recorder");
}

static sn_status check_info(const sn_recorder *recorder, const sn_step_info *info) {
    if (!info ||
        ((unsigned)info->status <= SN_STEP_STALLED && (unsigned)info->stop_test <= SN_STOP_LINE_SEARCH))
        return SN_OK;
    return sn_fail(
        recorder->ctx, SN_ERR_INVALID_ARGUMENT,
        "recorder: info has the unknown status %d or stop test %d: pass on what sn_step() filled in",
        (int)info->status, (int)info->stop_test);
}

static void count_step(sn_run_totals *totals, const sn_step_info *info) {
    totals->frames++;
    totals->converged += info->status == SN_STEP_CONVERGED;
    totals->budget += info->status == SN_STEP_BUDGET;
    totals->stalled += info->status == SN_STEP_STALLED;
    totals->inverted += info->inverted > 0;
    totals->dropped += info->dropped_contacts > 0;
}

static sn_frame_view view_frame(sn_recorder *recorder, const sn_state *state, const sn_step_info *info) {
    sn_frame_view frame = {.index = recorder->history.count, .state = state, .info = info};
    for (int32_t f = 0; f < SN_FIELD_COUNT; f++) {
        if (recorder->field_values[f])
            sn_state_quantity(state, (sn_quantity)f, recorder->field_values[f]);
        frame.field[f] = recorder->field_values[f];
    }
    return frame;
}

/// Hands a frame to all files, to the checkpoint last.
static sn_status record_frame(sn_recorder *recorder, const sn_frame_view *frame) {
    sn_status status = SN_OK;
    const sn_step_info *info = frame->info;
    const sn_frame_record record = {sn_state_time(frame->state), info ? info->ms.total : 0,
                                    info ? (int32_t)info->status : -1, info ? info->iterations : 0};
    // Where a summary stands, the run is complete.
    if (recorder->has_summary)
        SN_TRY(sn_folder_remove(recorder->ctx, recorder->directory, SN_SUMMARY_FILE));
    recorder->has_summary = recorder->complete = false;
    if (info)
        SN_TRY(sn_run_stats_frame(&recorder->stats, frame));
    // Before the bodies: who reads a run that goes on finds the shapes of every frame that the bodies have.
    SN_TRY(sn_rigid_record_frame(&recorder->rigid, record.time));
    SN_TRY(sn_recorded_bodies_frame(&recorder->bodies, frame));
    if (recorder->def.contacts)
        SN_TRY(sn_contact_csv_frame(&recorder->contacts, frame));
    if (recorder->probes)
        SN_TRY(sn_probes_frame(recorder->probes, frame));
    if (recorder->player)
        SN_TRY(sn_player_frame(recorder->player, frame));
    if (recorder->previews)
        SN_TRY(sn_preview_frames_write(recorder->previews, recorder->directory, frame));
    SN_TRY(sn_history_append(&recorder->history, &record));
    if (info)
        count_step(&recorder->totals, info);
    if (recorder->def.checkpoint_every > 0 && frame->index % recorder->def.checkpoint_every == 0) {
        const sn_checkpoint head = make_head(recorder, frame->state);
        SN_TRY(write_checkpoint(recorder, &head, frame->state));
    }
cleanup:
    return status;
}

sn_status sn_recorder_frame(sn_recorder *recorder, const sn_state *state, const sn_step_info *info) {
    if (!recorder)
        return SN_ERR_INVALID_ARGUMENT;
    if (!state || recorder->phase != RECORDER_OPEN || (info == NULL) != (recorder->history.count == 0))
        return sn_fail(
            recorder->ctx, SN_ERR_INVALID_ARGUMENT,
            "recorder: the first frame comes without info, later ones with it, none after finishing "
            "or after one that failed");
    sn_status status = SN_OK;
    SN_TRY(check_state(recorder, state));
    SN_TRY(check_info(recorder, info));
    const sn_frame_view frame = view_frame(recorder, state, info);
    status = record_frame(recorder, &frame);
    if (status < 0)
        recorder->phase = RECORDER_BROKEN;
cleanup:
    return status;
}

sn_run_totals sn_recorder_totals(const sn_recorder *recorder) {
    return recorder->totals;
}

// ---- The end

static sn_status close_growing_files(sn_recorder *recorder) {
    sn_status status = SN_OK;
    SN_TRY(sn_recorded_bodies_close(&recorder->bodies));
    SN_TRY(sn_rigid_record_finish(&recorder->rigid));
    if (recorder->def.contacts)
        SN_TRY(sn_contact_csv_finish(&recorder->contacts));
    if (recorder->probes)
        SN_TRY(sn_probes_finish(recorder->probes));
    SN_TRY(sn_run_stats_finish(&recorder->stats));
    SN_TRY(sn_history_finish(&recorder->history));
cleanup:
    return status;
}

/// The summary comes last of what every run has: where it stands, all frames are there. Exports read it, and
/// one that its format cannot hold takes nothing else away.
static sn_status write_results(sn_recorder *recorder, const sn_state *state) {
    sn_status status = SN_OK;
    int32_t count = recorder->history.count;
    const sn_frame_record *record = recorder->history.record;
    sn_run_summary summary = {
        .run = &recorder->run, .precision = recorder->precision, .state = state, .totals = recorder->totals};
    SN_TRY(sn_run_summary_times(recorder->ctx, count, record, &summary));
    SN_TRY(sn_recorded_bodies_list(&recorder->bodies, count, record));
    if (recorder->player)
        SN_TRY(sn_player_write(recorder->player, recorder->directory, count, record, summary.ms_median));
    SN_TRY(sn_run_summary_write(recorder->ctx, recorder->directory, &summary));
    SN_TRY(sn_run_exports_write(recorder->ctx, recorder->directory, &recorder->def));
cleanup:
    return status;
}

sn_status sn_recorder_finish(sn_recorder *recorder, const sn_state *state) {
    if (!recorder)
        return SN_ERR_INVALID_ARGUMENT;
    if (!state || recorder->phase != RECORDER_OPEN || recorder->history.count == 0)
        return sn_fail(
            recorder->ctx, SN_ERR_INVALID_ARGUMENT,
            "recorder: finish once, with a state, after at least the first frame and none that failed");
    sn_status status = SN_OK;
    SN_TRY(check_state(recorder, state));
    recorder->phase = RECORDER_FINISHED;
    if (recorder->complete)
        return SN_OK;
    // First, for there may be no room left for the results.
    sn_checkpoint head = make_head(recorder, state);
    SN_TRY(write_checkpoint(recorder, &head, state));
    SN_TRY(close_growing_files(recorder));
    SN_TRY(write_results(recorder, state));
    head.finished = 1;
    SN_TRY(write_checkpoint(recorder, &head, state));
cleanup:
    return status;
}
