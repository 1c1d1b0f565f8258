#include "element/element_spring.h"

#include "math/math_mat3.h"

void sn_spring_end_place(const sn_spring_end *end, const double *x, const double *target, double out[3]) {
    if (end->node_count == 0) {
        for (int i = 0; i < 3; i++)
            out[i] = target[i];
        return;
    }
    for (int i = 0; i < 3; i++)
        out[i] = 0;
    for (int k = 0; k < end->node_count; k++)
        for (int i = 0; i < 3; i++)
            out[i] += end->weight[k] * x[3 * (int64_t)end->node[k] + i];
}

double sn_spring_energy(const sn_spring *spring, const double *x, const double *target, double gradient[3]) {
    double pa[3], pb[3], d[3];
    sn_spring_end_place(&spring->a, x, target, pa);
    sn_spring_end_place(&spring->b, x, target, pb);
    sn_sub3(pa, pb, d);
    double length = sn_norm3(d), stretch = length - spring->rest_length;
    double factor = spring->rest_length == 0 ? spring->stiffness
                                             : (length > 0 ? spring->stiffness * stretch / length : 0);
    for (int i = 0; i < 3; i++)
        gradient[i] = factor * d[i];
    return 0.5 * spring->stiffness * stretch * stretch;
}

static int32_t end_metric(const sn_spring_end *end, double stiffness, sn_triplet *out) {
    for (int k = 0; k < end->node_count; k++)
        out[k] = (sn_triplet){end->node[k], end->node[k], stiffness * fabs(end->weight[k])};
    return end->node_count;
}

int32_t sn_spring_metric(const sn_spring *spring, sn_triplet out[SN_SPRING_TRIPLETS]) {
    double k = spring->stiffness;
    if (spring->b.node_count == 0)
        return end_metric(&spring->a, k, out);
    if (spring->a.node_count == 1 && spring->b.node_count == 1) {
        int32_t a = spring->a.node[0], b = spring->b.node[0];
        out[0] = (sn_triplet){a, a, k};
        out[1] = (sn_triplet){b, b, k};
        out[2] = (sn_triplet){a, b, -k};
        return 3;
    }
    int32_t count = end_metric(&spring->a, 2 * k, out);
    return count + end_metric(&spring->b, 2 * k, out + count);
}
