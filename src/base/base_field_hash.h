/// Hash of a definition by its field table, so that no field of it is forgotten.
#ifndef SN_BASE_FIELD_HASH_H
#define SN_BASE_FIELD_HASH_H

#include "base/base_field.h"

/// Chains the values of all rows that hold numbers, choices or tables to `hash`. Marks and rows that no file
/// holds are left out. The table has no texts and lists.
uint64_t sn_field_hash(uint64_t hash, const sn_field_table *table, const void *item);

#endif
