#include "io/io_contact_csv.h"

#include "io/io_csv.h"

static const char columns[] =
    "frame,time_s,body,shape,vertex,x_m,y_m,z_m,nx,ny,nz,fx_N,fy_N,fz_N,depth_m,sticking,other_body\n";

sn_status sn_contact_csv_open(sn_context *ctx, const char *directory, sn_contact_csv *csv) {
    sn_status status = SN_OK;
    sn_contact_csv made = {0};
    SN_TRY(sn_output_open(ctx, directory, SN_CONTACT_FILE, SN_OUTPUT_GROWING, &made.output));
    SN_TRY(sn_output_text(&made.output, columns));
    SN_TRY(sn_output_record(&made.output));
    *csv = made;
    return SN_OK;
cleanup:
    sn_output_abandon(&made.output);
    return status;
}

sn_status sn_contact_csv_reopen(sn_context *ctx, const char *directory, int64_t size, sn_contact_csv *csv) {
    return sn_output_reopen(ctx, directory, SN_CONTACT_FILE, size, &csv->output);
}

int64_t sn_contact_csv_size(const sn_contact_csv *csv) {
    return csv->output.record_end;
}

static sn_status write_row(sn_output *output, const sn_frame_view *frame, const sn_contact *contact) {
    sn_status status = SN_OK;
    const sn_model *model = sn_state_model(frame->state);
    SN_TRY(sn_output_format(output, "%d,", frame->index));
    SN_TRY(sn_output_number(output, sn_state_time(frame->state)));
    SN_TRY(sn_output_text(output, ","));
    SN_TRY(sn_csv_text(output, sn_model_body(model, contact->body).name, ""));
    SN_TRY(sn_output_text(output, ","));
    SN_TRY(sn_csv_text(output, contact->shape >= 0 ? sn_model_shape(model, contact->shape)->name : "", ""));
    SN_TRY(sn_output_format(output, ",%d", contact->vertex));
    SN_TRY(sn_csv_vector(output, contact->place));
    SN_TRY(sn_csv_vector(output, contact->normal));
    SN_TRY(sn_csv_vector(output, contact->force));
    SN_TRY(sn_output_text(output, ","));
    SN_TRY(sn_output_number(output, contact->depth));
    SN_TRY(sn_output_format(output, ",%d,", contact->sticking));
    SN_TRY(sn_csv_text(output, contact->other_body >= 0 ? sn_model_body(model, contact->other_body).name : "",
                       ""));
    SN_TRY(sn_output_text(output, "\n"));
cleanup:
    return status;
}

sn_status sn_contact_csv_frame(sn_contact_csv *csv, const sn_frame_view *frame) {
    sn_status status = SN_OK;
    int32_t count = sn_state_contact_count(frame->state);
    for (int32_t i = 0; i < count; i++) {
        sn_contact contact;
        SN_TRY(sn_state_contact(frame->state, i, &contact));
        SN_TRY(write_row(&csv->output, frame, &contact));
    }
    SN_TRY(sn_output_record(&csv->output));
cleanup:
    return status;
}

sn_status sn_contact_csv_finish(sn_contact_csv *csv) {
    return sn_output_finish(&csv->output);
}

void sn_contact_csv_abandon(sn_contact_csv *csv) {
    sn_output_abandon(&csv->output);
}
