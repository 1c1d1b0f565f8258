/// Scene files: YAML or JSON that says what to simulate (docs/scene.md).
#ifndef SINEW_SCENE_H
#define SINEW_SCENE_H

#include "sinew/base.h"
#include "sinew/io.h"
#include "sinew/model.h"
#include "sinew/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A checked scene, in SI units, not yet loaded meshes.
typedef struct sn_scene sn_scene;

/// When to step. From the scene's `time` section.
typedef struct sn_time_def {
    double frame_seconds; ///< > 0
    int32_t frames;       ///< >= 1
    int32_t substeps;     ///< steps per frame, >= 1
} sn_time_def;

/// Reads and checks a scene file. Overrides are "path.to.key=value" texts, applied before the checks.
/// @return SN_OK; SN_ERR_SCENE: the message names file:line: key, the value, what is allowed and the nearest
/// known key; SN_ERR_READ: the file cannot be read.
SN_API SN_NODISCARD sn_status sn_scene_load(sn_context *context, const char *path, int32_t override_count,
                                            const char *const *overrides, sn_scene **out_scene);

/// The same from memory: `name` stands for the file in messages, `folder` is where relative paths start.
SN_API SN_NODISCARD sn_status sn_scene_parse(sn_context *context, const char *text, size_t size,
                                             const char *name, const char *folder, int32_t override_count,
                                             const char *const *overrides, sn_scene **out_scene);
/// Destroys a scene and sets *scene to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_scene_destroy(sn_scene **scene);

/// Loads the meshes and builds the model. Messages name the scene's line. Paths are relative to the scene
/// file.
SN_API SN_NODISCARD sn_status sn_scene_build(const sn_scene *scene, sn_model **out_model);

/// When to step, as the scene says, with defaults where it says nothing.
SN_API sn_time_def sn_scene_time(const sn_scene *scene);
/// The same for integrator and solver: a definition for sn_stepper_create().
SN_API sn_stepper_def sn_scene_stepper(const sn_scene *scene);
/// The same for the results: a definition for sn_recorder_create().
SN_API sn_output_def sn_scene_output(const sn_scene *scene);

/// The reference of scene files made from the field tables.
typedef enum sn_manual_format { SN_MANUAL_TEXT = 0, SN_MANUAL_MARKDOWN = 1 } sn_manual_format;
/// @param[out] out_text  to be released with sn_text_free(context, text).
SN_API SN_NODISCARD sn_status sn_scene_manual(sn_context *context, sn_manual_format format, char **out_text);
/// The table of materials with formulas and parameters.
SN_API SN_NODISCARD sn_status sn_material_manual(sn_context *context, char **out_text);
/// Releases a text of the manuals. NULL is fine.
SN_API void sn_text_free(sn_context *context, char *text);

#ifdef __cplusplus
}
#endif
#endif
