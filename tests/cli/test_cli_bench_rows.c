// The rows that sinew-bench writes, with and without a peer. The program itself needs CHOLMOD and is built
// for benchmarks only; its report needs neither, so it is compiled right here.
#include "../../bench/bench_report.c"

#include "../../bench/bench_json.c"

#include "test_support.h"

#define PATH SINEW_BINARY_DIR "/bench_rows.json"

/// Writes one row and reads the file back.
static void write_and_read(const bench_row *row, char *text, size_t size) {
    static bench_report report;
    bench_machine machine = {.cpu = "a \"b\"", .cores = 2, .read_bandwidth = 30, .flops = 100, .load = 0.25};
    report.count = 0;
    bench_report_add(&report, row);
    assert_true(bench_json_write(PATH, &machine, &report));
    FILE *file = fopen(PATH, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    remove(PATH);
}

static void check_row(const bench_row *row, const char *expected) {
    char text[1024], wanted[1024];
    snprintf(wanted, sizeof wanted,
             "{\n  \"machine\": {\"cpu\": \"a \\\"b\\\"\", \"read_bandwidth_GBps\": 30, \"flops_GFps\": 100, "
             "\"load_average\": 0.25, \"cores\": 2},\n  \"rows\": [\n    {\"bench\": \"step\", \"case\": "
             "\"100 K tets\", \"quantity\": "
             "\"sweep\", \"unit\": \"ms\", %s, \"note\": \"n\"}\n  ]\n}\n",
             expected);
    write_and_read(row, text, sizeof text);
    assert_string_equal(text, wanted);
}

static bench_row make_row(double ours) {
    return (bench_row){
        .bench = "step", .name = "100 K tets", .quantity = "sweep", .unit = "ms", .ours = ours, .note = "n"};
}

static void test_row_without_peer(void **state) {
    (void)state;
    bench_row row = make_row(1.5);
    check_row(&row, "\"ours\": 1.5");
    row.ours = NAN;
    check_row(&row, "\"ours\": null");
}

static void test_row_with_peer(void **state) {
    (void)state;
    bench_row row = make_row(1.5);
    row.peer_name = "CHOLMOD", row.peer = 3;
    check_row(&row, "\"ours\": 1.5, \"peer_name\": \"CHOLMOD\", \"peer\": 3, \"ratio\": 0.5");
    row.target = 0.5;
    check_row(&row,
              "\"ours\": 1.5, \"peer_name\": \"CHOLMOD\", \"peer\": 3, \"ratio\": 0.5, \"target\": 0.5, "
              "\"pass\": true");
    row.target = 0.49;
    check_row(&row,
              "\"ours\": 1.5, \"peer_name\": \"CHOLMOD\", \"peer\": 3, \"ratio\": 0.5, \"target\": 0.49, "
              "\"pass\": false");
}

/// A peer that could not be measured passes nothing.
static void test_row_of_nothing(void **state) {
    (void)state;
    bench_row row = make_row(0);
    row.peer_name = "CHOLMOD", row.target = 1;
    assert_true(isnan(bench_row_ratio(&row)));
    assert_false(bench_row_passes(&row));
}

static void test_median(void **state) {
    (void)state;
    double times[] = {5, 1, 4, 2, 3};
    assert_near(bench_median(times, 5), 3, 0);
}

/// --only is exact unless it has wildcards, and takes precedence over --quick.
static void test_chosen_cases(void **state) {
    (void)state;
    bench_options options = {.quick = false};
    assert_true(bench_is_chosen(&options, "BCC arm", false));
    options.quick = true;
    assert_false(bench_is_chosen(&options, "BCC arm", false));
    assert_true(bench_is_chosen(&options, "BCC 10 K", true));
    options.only = "BCC arm";
    assert_true(bench_is_chosen(&options, "BCC arm", false));
    assert_false(bench_is_chosen(&options, "BCC arm all", false));
    assert_false(bench_is_chosen(&options, "BCC 10 K", true));
    options.only = "BCC arm*";
    assert_true(bench_is_chosen(&options, "BCC arm, 3933 kept", false));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_row_without_peer),
                                       cmocka_unit_test(test_row_with_peer),
                                       cmocka_unit_test(test_row_of_nothing), cmocka_unit_test(test_median),
                                       cmocka_unit_test(test_chosen_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
