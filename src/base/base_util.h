/// Clock, hash and random numbers.
#ifndef SN_BASE_UTIL_H
#define SN_BASE_UTIL_H

#include <stddef.h>
#include <stdint.h>

/// Seconds on a clock that never goes back.
double sn_clock(void);

/// 64-bit hash of bytes, chained: start with `hash` = SN_HASH_START. Stable over versions and machines of one
/// byte order.
#define SN_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t sn_hash(uint64_t hash, const void *bytes, size_t size);

/// Small generator (splitmix64): same numbers for the same seed on every machine.
typedef struct sn_random {
    uint64_t state;
} sn_random;
sn_random sn_random_make(uint64_t seed);
uint64_t sn_random_u64(sn_random *random);
/// Uniform in [0, 1), with 53 random bits.
double sn_random_real(sn_random *random);
/// Uniform in [low, high).
double sn_random_range(sn_random *random, double low, double high);
/// Normal, mean 0, deviation 1.
double sn_random_normal(sn_random *random);
/// Uniform in 0..count-1, count > 0.
int32_t sn_random_index(sn_random *random, int32_t count);

#endif
