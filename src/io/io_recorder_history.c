#include "io/io_recorder_history.h"

#include "base/base_util.h"

_Static_assert(sizeof(sn_frame_record) == 2 * 8 + 2 * 4, "records have padding");

static uint64_t hash_record(uint64_t hash, const sn_frame_record *record) {
    return sn_hash(hash, record, sizeof *record);
}

sn_status sn_history_open(sn_context *ctx, const char *directory, sn_history *history) {
    sn_history made = {.hash = SN_HASH_START};
    sn_status status = sn_output_open(ctx, directory, SN_HISTORY_FILE, SN_OUTPUT_GROWING, &made.output);
    if (status == SN_OK)
        *history = made;
    return status;
}

sn_status sn_history_read(sn_context *ctx, const char *directory, int32_t count, uint64_t hash,
                          sn_history *history) {
    sn_status status = SN_OK;
    sn_history made = {.hash = SN_HASH_START, .count = count};
    size_t size = (size_t)count * sizeof *made.record;
    // Before memory is taken for as many frames as a number claims.
    SN_TRY(sn_output_can_reopen(ctx, directory, SN_HISTORY_FILE, (int64_t)size));
    SN_TRY(sn_grow(ctx, (void **)&made.record, &made.capacity, (size_t)count, sizeof *made.record));
    SN_TRY(sn_output_read_start(ctx, directory, SN_HISTORY_FILE, made.record, size));
    for (int32_t i = 0; i < count; i++)
        made.hash = hash_record(made.hash, &made.record[i]);
    if (made.hash != hash)
        SN_TRY(sn_fail(ctx, SN_ERR_READ,
                       "%s/%s is not as the run left it: put back the file of the run, or start the run anew "
                       "(--overwrite)",
                       directory, SN_HISTORY_FILE));
    *history = made;
    return SN_OK;
cleanup:
    SN_RELEASE(ctx, made.record);
    return status;
}

sn_status sn_history_reopen(sn_context *ctx, const char *directory, sn_history *history) {
    int64_t size = (int64_t)history->count * (int64_t)sizeof *history->record;
    return sn_output_reopen(ctx, directory, SN_HISTORY_FILE, size, &history->output);
}

sn_status sn_history_append(sn_history *history, const sn_frame_record *record) {
    sn_status status = SN_OK;
    SN_TRY(sn_grow(history->output.ctx, (void **)&history->record, &history->capacity,
                   (size_t)history->count + 1, sizeof *record));
    SN_TRY(sn_output_write(&history->output, record, sizeof *record));
    SN_TRY(sn_output_record(&history->output));
    history->record[history->count++] = *record;
    history->hash = hash_record(history->hash, record);
cleanup:
    return status;
}

sn_status sn_history_finish(sn_history *history) {
    return sn_output_finish(&history->output);
}

void sn_history_release(sn_context *ctx, sn_history *history) {
    sn_output_abandon(&history->output);
    SN_RELEASE(ctx, history->record);
    *history = (sn_history){0};
}
