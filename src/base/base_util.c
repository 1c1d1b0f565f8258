#define _POSIX_C_SOURCE 200809L
#include "base/base_util.h"

#include <math.h>
#include <time.h>

double sn_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

uint64_t sn_hash(uint64_t hash, const void *bytes, size_t size) {
    // FNV-1a: slow for gigabytes, but states are small and the definition fits in two lines.
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

sn_random sn_random_make(uint64_t seed) {
    return (sn_random){seed};
}

uint64_t sn_random_u64(sn_random *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double sn_random_real(sn_random *random) {
    return (double)(sn_random_u64(random) >> 11) * 0x1p-53;
}

double sn_random_range(sn_random *random, double low, double high) {
    return low + (high - low) * sn_random_real(random);
}

double sn_random_normal(sn_random *random) {
    double radius = sqrt(-2 * log(1 - sn_random_real(random)));
    return radius * cos(6.283185307179586 * sn_random_real(random));
}

int32_t sn_random_index(sn_random *random, int32_t count) {
    return (int32_t)(sn_random_real(random) * count);
}
