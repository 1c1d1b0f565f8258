// Small vectors and matrices: unit vectors at every scale, inverses.
#include "test_support.h"

#include "math/math_mat3.h"

static void unit_vectors_at_every_scale(void **state) {
    (void)state;
    for (int power = -320; power <= 300; power += 10) {
        double scale = pow(10, power), a[3] = {scale, -2 * scale, 2 * scale}, out[3];
        sn_unit3(a, out);
        // Denormals carry few digits.
        double tolerance = power < -300 ? 1e-3 : 1e-15;
        assert_near(out[0], 1.0 / 3, tolerance);
        assert_near(out[1], -2.0 / 3, tolerance);
        assert_near(out[2], 2.0 / 3, tolerance);
        assert_near(sn_norm3(out), 1, 1e-15);
    }
}

static void inverse_times_matrix_is_identity(void **state) {
    (void)state;
    const double m[9] = {2, 0.5, -1, 0.3, 3, 0.7, 1, -0.2, 4};
    double inverse[9], product[9];
    assert_near(sn_inverse3(m, inverse), sn_det3(m), 0);
    sn_mul33(inverse, m, product);
    for (int k = 0; k < 9; k++)
        assert_near(product[k], k % 4 == 0, 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unit_vectors_at_every_scale),
        cmocka_unit_test(inverse_times_matrix_is_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
