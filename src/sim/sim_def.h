/// Field tables of what a model is built from.
#ifndef SN_SIM_DEF_H
#define SN_SIM_DEF_H

#include "base/base_field.h"
#include "sinew/model.h"

/// One for each public definition, for defaults and sn_field_check(). Handles and pointers are derived rows:
/// in scene files they are names.
extern const sn_field_table sn_frame_fields, sn_shape_fields, sn_body_fields, sn_pin_fields,
    sn_attachment_fields, sn_load_fields, sn_spring_fields, sn_contact_fields;

/// Structs inside them.
extern const sn_field_table sn_selection_fields, sn_initial_fields;

/// Parts of sn_shape_def: the fields of one kind, and what no kind has.
extern const sn_field_table sn_plane_fields, sn_sphere_fields, sn_capsule_fields, sn_box_fields,
    sn_shape_base_fields;

/// Names of sn_interpolation.
extern const sn_field_choice sn_interpolations[];

#endif
