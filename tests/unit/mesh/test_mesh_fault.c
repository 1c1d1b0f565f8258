// Every allocation of the mesh module fails once: the call says so, leaves its outputs alone and leaks
// nothing.
#include "unit/mesh/mesh_fixture.h"

/// Allocator that refuses the allocation numbered `fail_at`.
typedef struct miser {
    int64_t count, fail_at;
} miser;

static void *miser_allocate(void *user, size_t size) {
    miser *m = user;
    return m->count++ == m->fail_at ? NULL : aligned_alloc(64, (size + 63) / 64 * 64);
}

static void miser_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

/// Makes an arm, fills it, and turns the tets into data, a report and a mesh again.
static sn_status work(sn_context *ctx) {
    sn_status status = SN_OK;
    sn_mesh_data *arm = NULL, *tets = NULL;
    sn_mesh *lattice = NULL, *copy = NULL;
    sn_embedding *embedding = NULL;
    sn_skeleton *skeleton = NULL;
    sn_mesh_report report;
    sn_make_def make = sn_make_def_default(SN_MAKE_ARM);
    sn_lattice_def def = sn_lattice_def_default();
    make.cells = 12;
    def.cells = 6;
    SN_TRY(sn_mesh_make(ctx, &make, &arm, &skeleton));
    SN_TRY(sn_lattice_create(ctx, arm, &def, &lattice, &embedding));
    SN_TRY(sn_mesh_to_data(lattice, &tets));
    SN_TRY(sn_mesh_data_report(tets, &report));
    SN_TRY(sn_mesh_create(ctx, tets, true, &copy));
cleanup:
    sn_mesh_destroy(&copy);
    sn_mesh_data_destroy(&tets);
    sn_embedding_destroy(&embedding);
    sn_mesh_destroy(&lattice);
    sn_skeleton_destroy(&skeleton);
    sn_mesh_data_destroy(&arm);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sn_status status = SN_ERR_NO_MEMORY;
    int failures = 0;
    for (int64_t fail_at = 1; status != SN_OK; fail_at++) { // number 0 is the context itself
        miser m = {0, fail_at};
        sn_context *ctx = NULL;
        sn_context_def def = sn_context_def_default();
        def.allocator = (sn_allocator){&m, miser_allocate, miser_release};
        def.thread_count = 1;
        def.debug_memory = true;
        assert_int_equal(sn_context_create(&def, &ctx), SN_OK);
        status = work(ctx);
        assert_true(status == SN_OK || status == SN_ERR_NO_MEMORY);
        failures += status != SN_OK;
        test_context_end(&ctx);
    }
    assert_in_range(failures, 50, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
