/// Picking nodes of a body.
#ifndef SN_SIM_SELECT_H
#define SN_SIM_SELECT_H

#include "sim/sim_builder.h"

/// Nodes that a selection picks, ascending, each once.
/// @param[out] out_nodes  [*out_count], to be released with sn_release.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT: a bad field, or no node (the message has the body's bounds).
SN_NODISCARD sn_status sn_select_nodes(sn_context *ctx, const sn_builder_body *body,
                                       const sn_selection *select, int32_t *out_count, int32_t **out_nodes);

#endif
