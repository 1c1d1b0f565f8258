/// Contact in a model: from definitions to pairs, proxies and shapes.
#ifndef SN_SIM_CONTACT_H
#define SN_SIM_CONTACT_H

#include "sim/sim_builder.h"

/// Takes the builder's pairs over into a model that has everything else, finds the proxies of the bodies in
/// them and prepares their shapes.
SN_NODISCARD sn_status sn_model_prepare_contact(const sn_model_builder *builder, sn_model *model);

#endif
