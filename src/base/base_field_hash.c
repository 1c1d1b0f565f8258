#include "base/base_field_hash.h"

#include "base/base_util.h"

uint64_t sn_field_hash(uint64_t hash, const sn_field_table *table, const void *item) {
    for (size_t r = 0; r < table->row_count; r++) {
        const sn_field *field = &table->rows[r];
        if (!sn_field_applies(field, item))
            continue;
        const void *value = (const char *)item + field->offset;
        switch (field->kind) {
        case SN_FIELD_BOOL:
        case SN_FIELD_INT:
        case SN_FIELD_REAL:
        case SN_FIELD_VEC3:
        case SN_FIELD_CHOICE:
            hash = sn_hash(hash, value, sn_field_size(field));
            break;
        case SN_FIELD_TABLE:
        case SN_FIELD_FLAGS:
        case SN_FIELD_INCLUDE:
            hash = sn_field_hash(hash, field->table, value);
            break;
        case SN_FIELD_MARK:
        case SN_FIELD_DERIVED:
            break;
        default:
            SN_ASSERT(false && "texts and lists are not hashed");
        }
    }
    return hash;
}
