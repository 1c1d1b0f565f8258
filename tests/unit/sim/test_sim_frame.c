// Moving frames against closed forms.
#include "test_sim_fixture.h"

#include "math/math_mat3.h"
#include "sim/sim_frame.h"

static const double pi = 3.14159265358979323846;

/// Place of X at a time, carried by the last frame of a model.
static void carry(const sn_model *model, double time, const double X[3], double x[3]) {
    double R[9], translation[3];
    sn_frame_pose(model, model->frame_count - 1, time, R, translation);
    sn_mul3(R, X, x);
    for (int i = 0; i < 3; i++)
        x[i] += translation[i];
}

static void assert_place(const double x[3], double a, double b, double c) {
    assert_near(x[0], a, 1e-14);
    assert_near(x[1], b, 1e-14);
    assert_near(x[2], c, 1e-14);
}

static void turns_about_its_pivot(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    const double time[2] = {1, 3}, rotation[6] = {0, 0, 0, 0, 0, pi}, move[6] = {0, 0, 0, 0, 0, 4};
    double x[3];
    sn_frame_def def = sn_frame_def_default();
    def.pivot[0] = 1;
    def.key_count = 2;
    def.time = time, def.rotation = rotation, def.translation = move;
    assert_done(f.ctx, sn_model_add_frame(f.builder, &def, NULL));
    sn_model *model = fixture_build(&f);
    carry(model, 0, (double[3]){2, 0, 0}, x);
    assert_place(x, 2, 0, 0);
    carry(model, 2, (double[3]){2, 0, 0}, x);
    assert_place(x, 1, 1, 2);
    carry(model, 99, (double[3]){2, 0, 0}, x);
    assert_place(x, 0, 0, 4);
    sn_model_destroy(&model);
    fixture_end(&f);
}

/// Three whole turns in one piece: as vectors, not as rotations that all mean the same.
static void counts_whole_turns(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    const double time[2] = {0, 1}, rotation[6] = {0, 0, 0, 0, 6 * pi, 0};
    double x[3];
    sn_frame_def def = sn_frame_def_default();
    def.key_count = 2;
    def.time = time, def.rotation = rotation;
    assert_done(f.ctx, sn_model_add_frame(f.builder, &def, NULL));
    sn_model *model = fixture_build(&f);
    for (double u = 0; u <= 1; u += 0.0625) {
        carry(model, u, (double[3]){1, 0, 0}, x);
        assert_place(x, cos(6 * pi * u), 0, -sin(6 * pi * u));
    }
    sn_model_destroy(&model);
    fixture_end(&f);
}

static void eases_when_smooth(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    const double time[3] = {0, 2, 3}, move[9] = {0, 0, 0, 8, 0, 0, 8, 1, 0};
    double x[3];
    sn_frame_def def = sn_frame_def_default();
    def.key_count = 3;
    def.time = time, def.translation = move;
    def.interpolation = SN_INTERPOLATION_SMOOTH;
    assert_done(f.ctx, sn_model_add_frame(f.builder, &def, NULL));
    sn_model *model = fixture_build(&f);
    // u = 1/4: 3 / 16 - 2 / 64 = 5 / 32.
    carry(model, 0.5, (double[3]){0}, x);
    assert_place(x, 8 * 5 / 32.0, 0, 0);
    carry(model, 2.5, (double[3]){0}, x);
    assert_place(x, 8, 0.5, 0);
    carry(model, 2, (double[3]){0}, x);
    assert_place(x, 8, 0, 0);
    sn_model_destroy(&model);
    fixture_end(&f);
}

/// Between turns about different axes: half way is half the turn from one to the other, on the shorter arc.
static void takes_the_shorter_arc(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    // The second vector is a turn of 1.5 pi about y, which is -pi / 2.
    const double time[2] = {0, 1}, rotation[6] = {pi / 3, 0, 0, 0, 1.5 * pi, 0};
    double first[9], last[9], middle[9], t[3], step[9], whole[9], twice[9];
    sn_frame_def def = sn_frame_def_default();
    def.key_count = 2;
    def.time = time, def.rotation = rotation;
    assert_done(f.ctx, sn_model_add_frame(f.builder, &def, NULL));
    sn_model *model = fixture_build(&f);
    sn_frame_pose(model, 0, 0, first, t);
    sn_frame_pose(model, 0, 0.5, middle, t);
    sn_frame_pose(model, 0, 1, last, t);
    sn_mul33_tn(first, middle, step);
    sn_mul33_tn(first, last, whole);
    sn_mul33(step, step, twice);
    for (int i = 0; i < 9; i++)
        assert_near(twice[i], whole[i], 1e-14);
    // Half of an angle below pi has a cosine above 0: trace above 1.
    assert_true(step[0] + step[4] + step[8] > 1);
    sn_model_destroy(&model);
    fixture_end(&f);
}

/// A forearm on an upper arm: parent(child(X)), and both ways of asking give the same bits.
static void hangs_on_its_parent(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    const double time[2] = {0, 1}, turn[6] = {0, 0, 0, 0, 0, pi / 2};
    double x[3], R[27], translation[9], own_R[9], own_translation[3];
    sn_frame_def def = sn_frame_def_default();
    sn_frame_id upper;
    def.key_count = 2;
    def.time = time, def.rotation = turn;
    assert_done(f.ctx, sn_model_add_frame(f.builder, &def, &upper));
    def.parent = upper;
    def.pivot[0] = 1;
    assert_done(f.ctx, sn_model_add_frame(f.builder, &def, NULL));
    sn_model *model = fixture_build(&f);
    // The elbow goes from (1, 0) to (0, 1); the hand from (2, 0) over (1, 1) to (-1, 1).
    carry(model, 1, (double[3]){2, 0, 0}, x);
    assert_place(x, -1, 1, 0);
    for (double time_now = -0.5; time_now < 1.6; time_now += 0.3) {
        sn_frame_poses(model, time_now, R, translation);
        for (int frame = 0; frame < 2; frame++) {
            sn_frame_pose(model, frame, time_now, own_R, own_translation);
            assert_memory_equal(R + 9 * frame, own_R, sizeof own_R);
            assert_memory_equal(translation + 3 * frame, own_translation, sizeof own_translation);
        }
    }
    sn_model_destroy(&model);
    fixture_end(&f);
}

static void refuses_wrong_frames(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1), other = fixture_beam(1);
    const double good[2] = {0, 1}, same[2] = {1, 1}, wild[6] = {0, 0, 0, 0, NAN, 0};
    sn_frame_def def = sn_frame_def_default();
    def.name = "elbow";
    def.key_count = 2;
    assert_refused(f.ctx, sn_model_add_frame(f.builder, &def, NULL), "time is NULL");
    def.time = same;
    assert_refused(f.ctx, sn_model_add_frame(f.builder, &def, NULL), "ascend");
    def.time = good;
    def.rotation = wild;
    assert_refused(f.ctx, sn_model_add_frame(f.builder, &def, NULL), "rotation[4]");
    def.rotation = NULL;
    def.pivot[2] = INFINITY;
    assert_refused(f.ctx, sn_model_add_frame(f.builder, &def, NULL), "pivot");
    def.pivot[2] = 0;
    sn_frame_id foreign;
    assert_done(other.ctx, sn_model_add_frame(other.builder, &def, &foreign));
    def.parent = foreign;
    assert_refused(f.ctx, sn_model_add_frame(f.builder, &def, NULL), "not one of this builder's");
    sn_frame_def forgotten = {.key_count = 0};
    assert_refused(f.ctx, sn_model_add_frame(f.builder, &forgotten, NULL), "_def_default()");
    assert_refused(f.ctx, sn_model_add_frame(f.builder, NULL, NULL), "NULL");
    assert_int_equal(sn_model_add_frame(NULL, &def, NULL), SN_ERR_INVALID_ARGUMENT);
    def.parent = (sn_frame_id){0};
    sn_frame_id id;
    assert_done(f.ctx, sn_model_add_frame(f.builder, &def, &id));
    assert_int_equal(id.index1, 1);
    fixture_end(&f);
    fixture_end(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_about_its_pivot), cmocka_unit_test(counts_whole_turns),
        cmocka_unit_test(eases_when_smooth),     cmocka_unit_test(takes_the_shorter_arc),
        cmocka_unit_test(hangs_on_its_parent),   cmocka_unit_test(refuses_wrong_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
