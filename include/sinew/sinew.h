/// All of Sinew's public interface.
#ifndef SINEW_SINEW_H
#define SINEW_SINEW_H

#include "sinew/base.h"
#include "sinew/factor.h"
#include "sinew/io.h"
#include "sinew/material.h"
#include "sinew/mesh.h"
#include "sinew/model.h"
#include "sinew/scene.h"
#include "sinew/state.h"
#include "sinew/step.h"
#include "sinew/version.h"

#endif
