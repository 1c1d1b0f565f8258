// A last look at a whole scene: what is allowed but rarely meant, and what no step could solve.
#include "material/material_model.h"
#include "scene/scene_build.h"

#include <string.h>

/// Linear tets are far too stiff beyond this Poisson's ratio.
#define POISSON_LOCKS 0.4
/// Predicted sag over size outside of these hints at mixed-up units.
#define SAG_LEAST 1e-6
#define SAG_MOST  10

static const char *place_of(const sn_scene_job *job, const sn_node *node, char *text, size_t size) {
    return sn_node_place(&job->scene->source, node, text, size);
}

static void warn_about_locking(const sn_scene_job *job) {
    const sn_scene_content *content = &job->scene->content;
    char place[640];
    for (int32_t i = 0; i < content->material_count; i++) {
        const sn_scene_material_item *material = &content->materials[i];
        if (material->def.poisson > POISSON_LOCKS)
            sn_log(job->context, SN_LOG_WARNING,
                   "%smaterials.%s.poisson: linear tetrahedra lock above %g: at %g the body will be too "
                   "stiff, by a little near 0.4 and by several times near 0.5",
                   place_of(job, sn_scene_place(material->node, "poisson"), place, sizeof place),
                   material->name, POISSON_LOCKS, material->def.poisson);
    }
}

static void warn_about_units(const sn_scene_job *job, const sn_model_info *info) {
    char place[640];
    double size = 0;
    for (int i = 0; i < 3; i++)
        size = fmax(size, info->high[i] - info->low[i]);
    double ratio = info->sag_estimate / size;
    if (!(ratio > 0) || (ratio >= SAG_LEAST && ratio <= SAG_MOST))
        return;
    sn_log(job->context, SN_LOG_WARNING,
           "%sgravity: the sag under gravity will be about %.1e of the size (%.3g m): are the units of mesh, "
           "young and gravity what they should be?",
           place_of(job, sn_scene_place(job->scene->root, "gravity"), place, sizeof place), ratio, size);
}

/// A piece that nothing holds has no equilibrium.
static sn_status require_anchors(const sn_scene_job *job, const sn_model_info *info) {
    const sn_scene *scene = job->scene;
    if (scene->content.time.stepper.integrator != SN_INTEGRATOR_QUASISTATIC ||
        info->unanchored_piece_count == 0)
        return SN_OK;
    const sn_node *body = sn_node_find(sn_node_find(scene->root, "bodies"), info->unanchored_body);
    sn_status status =
        sn_fail(job->context, SN_ERR_SCENE,
                "nothing holds a piece of %d nodes, and quasistatics needs every piece held; allowed: a pin, "
                "attachment or spring to something that holds, or `integrator: implicit_euler`",
                (int)info->unanchored_nodes);
    return sn_scene_blame(job, status, body, "bodies.%s", info->unanchored_body);
}

/// Unit steps are safe only for materials whose metric bounds their Hessian.
static sn_status require_projective(const sn_scene_job *job) {
    const sn_scene_content *content = &job->scene->content;
    if (content->time.stepper.solver.method != SN_SOLVER_PROJECTIVE)
        return SN_OK;
    for (int32_t i = 0; i < content->material_count; i++) {
        const sn_material_info *info = sn_material_info_of(content->materials[i].def.model);
        const sn_node *node = content->materials[i].node;
        if (!info->is_projective)
            return sn_scene_blame(
                job,
                sn_fail(job->context, SN_ERR_SCENE,
                        "%s is not for `solver: {method: projective}`; allowed: another model, or "
                        "`method: lbfgs`",
                        info->name),
                sn_scene_place(node, "model"), "materials.%s.model", content->materials[i].name);
    }
    return SN_OK;
}

sn_status sn_scene_review(const sn_scene_job *job, const sn_model *model) {
    sn_model_info info = sn_model_get_info(model);
    sn_status status = require_anchors(job, &info);
    if (status == SN_OK)
        status = require_projective(job);
    if (status < 0)
        return status;
    warn_about_locking(job);
    warn_about_units(job, &info);
    return SN_OK;
}
