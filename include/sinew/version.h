/// Version of the library and what it links.
#ifndef SINEW_VERSION_H
#define SINEW_VERSION_H

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Version as "major.minor.patch", such as "0.1.0". Never NULL.
SN_API const char *sn_version(void);

/// Names, versions and licenses of the linked libraries, one line each. Never NULL.
SN_API const char *sn_version_licenses(void);

#ifdef __cplusplus
}
#endif
#endif
