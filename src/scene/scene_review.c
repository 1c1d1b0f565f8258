// A last look at a whole scene: what is allowed but rarely meant, and what no step could solve.
#include "contact/contact_shape.h"
#include "io/io_probe.h"
#include "material/material_model.h"
#include "math/math_mat3.h"
#include "scene/scene_build.h"
#include "sim/sim_model.h"

#include <string.h>

/// Linear tets are far too stiff beyond this Poisson's ratio.
#define POISSON_LOCKS 0.4
/// Young's modulus times the square of the step over density and the square of the size: beyond, L-BFGS turns
/// what hangs together by springs too slowly against each other (measured on two bars: at 0.35 their joint
/// bends as it should, at 3.5 less than half as far, at 35 hardly at all).
#define STIFF_MOST 1
/// Ratio of the moduli of a biphasic material above which projective dynamics is warned of.
#define STIFFENING_MOST 10
/// Predicted sag over size outside of these hints at mixed-up units.
#define SAG_LEAST 1e-6
#define SAG_MOST  10
/// What rests on a shape goes in by some hundredths of an edge; deeper at the start was hardly meant.
static const double START_DEPTH = 0.1;

/// Degrees in a step from which on shapes may miss points, and how many steps and poses in each are looked
/// at.
static const double TURN_MOST = 60;
enum { TURN_STEPS = 2000, TURN_POSES = 16 };

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

/// Whether `name` is a rigid thing or a bone of it.
static bool names_rigid(const sn_scene_rigid_item *rigid, const char *name) {
    size_t length = strlen(rigid->name);
    return name && strncmp(name, rigid->name, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static bool is_used(const sn_scene_content *content, const sn_scene_rigid_item *rigid) {
    bool used = false;
    for (int32_t i = 0; i < content->pin_count; i++)
        used = used || names_rigid(rigid, content->pins[i].to);
    for (int32_t i = 0; i < content->attachment_count; i++)
        for (int32_t k = 0; k < content->attachments[i].to_count; k++)
            used = used || names_rigid(rigid, content->attachments[i].to[k]);
    for (int32_t i = 0; i < content->spring_count; i++)
        used = used || names_rigid(rigid, content->springs[i].to.rigid);
    for (int32_t i = 0; i < content->contact_count; i++)
        for (int k = 0; k < 2; k++)
            used = used || names_rigid(rigid, content->contacts[i].between[k]);
    return used;
}

static void warn_about_idle_shapes(const sn_scene_job *job) {
    const sn_scene_content *content = &job->scene->content;
    char place[640];
    for (int32_t i = 0; i < content->rigid_count; i++) {
        const sn_scene_rigid_item *rigid = &content->rigids[i];
        if (!is_used(content, rigid))
            sn_log(
                job->context, SN_LOG_WARNING,
                "%srigid.%s: nothing touches it or hangs on it, so that bodies pass through; add `contact: "
                "[{between: [%s, %s]}]`, or an attachment, pin or spring to it",
                place_of(job, rigid->node, place, sizeof place), rigid->name, content->bodies[0].name,
                rigid->name);
    }
}

static bool is_material_used(const sn_scene_content *content, const char *name) {
    for (int32_t b = 0; b < content->body_count; b++)
        for (int32_t i = 0; i < content->bodies[b].material_count; i++)
            if (strcmp(content->bodies[b].materials[i].name, name) == 0)
                return true;
    return false;
}

/// A slip in a name, in --set above all, makes a material of its own.
static void warn_about_idle_materials(const sn_scene_job *job) {
    const sn_scene_content *content = &job->scene->content;
    char place[640];
    for (int32_t i = 0; i < content->material_count; i++) {
        const sn_scene_material_item *material = &content->materials[i];
        if (!is_material_used(content, material->name))
            sn_log(job->context, SN_LOG_WARNING,
                   "%smaterials.%s: no body is made of it; name it in a body's `material`, or remove it",
                   place_of(job, material->node, place, sizeof place), material->name);
    }
}

/// Whether a body may touch anything but itself.
static bool has_contact(const sn_model *model, int32_t body) {
    for (int32_t p = 0; p < model->pair_count; p++)
        if (model->pairs[p].body == body && model->pairs[p].other != body)
            return true;
    return false;
}

/// Name of what a pair keeps the points of its body out of.
static const char *other_side(const sn_model *model, const sn_contact_pair *pair) {
    return pair->other >= 0 ? model->bodies[pair->other].name : model->shapes[pair->shape].name;
}

/// Where some bodies meet shapes, one that falls past all of them was forgotten.
static void warn_about_falling_bodies(const sn_scene_job *job, const sn_model *model) {
    const double *g = job->scene->content.gravity;
    char place[640];
    if (model->pair_count == 0 || sn_dot3(g, g) == 0)
        return;
    for (int32_t b = 0; b < model->body_count; b++) {
        const sn_model_body_data *body = &model->bodies[b];
        if (!has_contact(model, b) && !model->piece_anchored[model->node_piece[body->node_begin]])
            sn_log(
                job->context, SN_LOG_WARNING,
                "%sbodies.%s: nothing holds it and `contact` lets it touch nothing: it will fall for ever; "
                "add `{between: [%s, %s]}` to contact",
                place_of(job, job->scene->content.bodies[b].node, place, sizeof place), body->name,
                body->name, other_side(model, &model->pairs[0]));
    }
}

/// Signed distance of the body's deepest point from a shape at the start, and the point.
static double start_distance(const sn_model *model, const sn_contact_pair *pair, double out_place[3]) {
    const sn_proxies *proxies = &model->bodies[pair->body].proxies;
    double R[9], origin[3], least = INFINITY;
    // Bodies start at rest, or nearly.
    sn_model_shape_pose(model, pair->shape, 0, R, origin);
    for (int32_t i = 0; i < proxies->count; i++) {
        double place[3], arm[3], rest[3];
        sn_proxy_place(proxies, i, model->start_x, place);
        sn_sub3(place, origin, arm);
        sn_mul3_tn(R, arm, rest);
        double distance =
            pair->other >= 0
                ? sn_mesh_distance_query(model->contact_solid[pair->other]->distance, place, NULL)
                : sn_contact_shape_distance(model->contact_shape[pair->shape], rest);
        if (distance < least) {
            least = distance;
            memcpy(out_place, place, sizeof place);
        }
    }
    return least;
}

static void warn_about_start(const sn_scene_job *job, const sn_model *model, const sn_contact_pair *pair,
                             const char *at, int32_t contact) {
    double place[3] = {0}, edge = model->bodies[pair->body].proxies.edge;
    double depth = -start_distance(model, pair, place);
    if (depth > START_DEPTH * edge)
        sn_log(job->context, SN_LOG_WARNING,
               "%scontact[%d]: body %s starts inside of %s, by %.3g m (%.2g mean edges) at [%.4g, %.4g, "
               "%.4g] m, and will be pushed out; move one of them apart",
               at, (int)contact, model->bodies[pair->body].name, other_side(model, pair), depth, depth / edge,
               place[0], place[1], place[2]);
}

static void warn_about_contacts(const sn_scene_job *job, const sn_model *model) {
    char at[640];
    for (int32_t p = 0; p < model->pair_count; p++) {
        const sn_contact_pair *pair = &model->pairs[p];
        // Parts are the model's shapes, in its order.
        const sn_scene_contact_item *item =
            pair->other >= 0
                ? sn_scene_contact_of_bodies(job, job->bodies[pair->body], job->bodies[pair->other])
                : sn_scene_contact_of(job, job->bodies[pair->body], &job->parts[pair->shape]);
        int32_t index = (int32_t)(item - job->scene->content.contacts);
        place_of(job, item->node, at, sizeof at);
        // Of two bodies one may be pinned, and one body is seen from one side only.
        bool is_idle =
            pair->other >= 0 && (pair->other == pair->body || model->bodies[pair->other].proxies.count > 0);
        if (model->bodies[pair->body].proxies.count == 0 && is_idle)
            continue;
        if (model->bodies[pair->body].proxies.count == 0)
            sn_log(
                job->context, SN_LOG_WARNING,
                "%scontact[%d]: all nodes at the surface of body %s are pinned, so that nothing can keep it "
                "out of %s; pin fewer nodes, or leave the contact out",
                at, (int)index, model->bodies[pair->body].name, other_side(model, pair));
        else if (pair->other != pair->body)
            warn_about_start(job, model, pair, at, index);
    }
}

/// Degrees by which a shape turns within the step of h seconds from `time` on.
static double turn_in_step(const sn_model *model, int32_t shape, double time, double h) {
    double R[2][9], origin[3], sum = 0;
    sn_model_shape_pose(model, shape, time, R[0], origin);
    for (int k = 1; k <= TURN_POSES; k++) {
        double *now = R[k % 2], *last = R[(k + 1) % 2], way = 0;
        sn_model_shape_pose(model, shape, time + h * k / TURN_POSES, now, origin);
        for (int i = 0; i < 9; i++)
            way += (now[i] - last[i]) * (now[i] - last[i]);
        // |R - S|^2 = 8 sin^2(angle / 2).
        sum += 2 * asin(fmin(1, sqrt(way / 8)));
    }
    return sum * 180 / acos(-1);
}

/// Bodies meet shapes along straight ways.
static void warn_about_fast_turns(const sn_scene_job *job, const sn_model *model) {
    sn_time_def time = sn_scene_time(job->scene);
    double h = time.frame_seconds / time.substeps;
    int64_t steps = (int64_t)time.frames * time.substeps;
    char at[640];
    for (int32_t s = 0; s < model->shape_count; s++) {
        double most = 0, when = 0;
        bool moves = model->contact_shape[s] && model->shape_frame[s] != SN_FRAME_WORLD;
        for (int64_t k = 0; moves && k < steps && k < TURN_STEPS; k++) {
            double turn = turn_in_step(model, s, h * (double)k, h);
            when = turn > most ? h * (double)k : when;
            most = fmax(most, turn);
        }
        if (most > TURN_MOST)
            sn_log(
                job->context, SN_LOG_WARNING,
                "%srigid.%s: turns by %.3g degrees in the step at %.4g s, and contact may miss points from "
                "about %g on; use steps shorter by a factor of %.0f (`time.substeps`), or turn it more "
                "slowly",
                place_of(job, job->scene->content.rigids[job->parts[s].rigid].node, at, sizeof at),
                model->shapes[s].name, most, when, TURN_MOST, ceil(most / TURN_MOST));
    }
}

/// Inside of a surface with holes is where it surrounds more than half of what is seen, which is seldom
/// meant.
static sn_status warn_about_open_meshes(const sn_scene_job *job, const sn_model *model) {
    char at[640];
    for (int32_t s = 0; s < model->shape_count; s++) {
        sn_mesh_report report;
        if (!model->contact_shape[s] || model->shapes[s].kind != SN_SHAPE_MESH)
            continue;
        sn_status status = sn_mesh_data_report(model->shapes[s].surface, &report);
        if (status < 0)
            return status;
        const sn_node *node = job->scene->content.rigids[job->parts[s].rigid].node;
        if (report.boundary_edges > 0)
            sn_log(
                job->context, SN_LOG_WARNING,
                "%srigid.%s: the mesh is not closed (%d edges have one triangle only): where it is solid is "
                "a guess, and bodies that touch it may be thrown off; close its holes",
                place_of(job, sn_scene_place(node, "mesh"), at, sizeof at), model->shapes[s].name,
                (int)report.boundary_edges);
    }
    return SN_OK;
}

static bool holds_node(const sn_model_body_data *body, int32_t node) {
    return node >= body->node_begin && node < body->node_begin + body->node_count;
}

/// True if a spring ties the body to another one.
static bool hangs_on_body(const sn_model *model, const sn_model_body_data *body) {
    for (int32_t s = 0; s < model->spring_count; s++) {
        const sn_spring *spring = &model->springs[s];
        if (spring->b.node_count > 0 &&
            holds_node(body, spring->a.node[0]) != holds_node(body, spring->b.node[0]))
            return true;
    }
    return false;
}

/// The constant metric resists turning as it resists deformation. What hangs together turns as a whole all
/// the same, but its parts, if they are stiff for their size and the step, turn so little in an iteration
/// that steps end before they have.
static void warn_about_stiff_bodies(const sn_scene_job *job, const sn_model *model) {
    sn_time_def time = sn_scene_time(job->scene);
    double h = time.frame_seconds / time.substeps;
    char at[640];
    for (int32_t b = 0; b < model->body_count; b++) {
        const sn_model_body_data *body = &model->bodies[b];
        double extent = sn_model_body_extent(model, b), stiffest = 0;
        for (int32_t t = body->tet_begin; t < body->tet_begin + body->tet_count; t++) {
            const sn_material_def *material = &model->materials[model->tet_material[t]];
            stiffest = fmax(stiffest, material->young / material->density);
        }
        double ratio = stiffest * h * h / (extent * extent);
        if (job->scene->content.time.stepper.integrator != SN_INTEGRATOR_QUASISTATIC && ratio > STIFF_MOST &&
            hangs_on_body(model, body))
            sn_log(
                job->context, SN_LOG_WARNING,
                "%sbodies.%s: stiff for its size and the step (young h^2 / (density size^2) = %.2g), and "
                "tied "
                "to another body: the two may turn against each other too slowly, or not at all; use shorter "
                "steps, a softer material, or a tolerance of 1e-6 with hundreds of iterations",
                place_of(job, job->scene->content.bodies[b].node, at, sizeof at), body->name, ratio);
    }
}

/// Unit steps lose about 1 / stiffening of what is left in the soft phase.
static void warn_about_stiffening(const sn_scene_job *job) {
    const sn_scene_content *content = &job->scene->content;
    if (content->time.stepper.solver.method != SN_SOLVER_PROJECTIVE)
        return;
    for (int32_t i = 0; i < content->material_count; i++) {
        const sn_scene_material_item *item = &content->materials[i];
        char at[640];
        if (item->def.model == SN_MATERIAL_BIPHASIC && item->def.stiffening > STIFFENING_MOST)
            sn_log(
                job->context, SN_LOG_WARNING,
                "%smaterials.%s: projective dynamics needs about stiffening = %g times the iterations where "
                "the material is soft; use at most %d, or `method: lbfgs`",
                place_of(job, sn_scene_place(item->node, "stiffening"), at, sizeof at), item->name,
                item->def.stiffening, STIFFENING_MOST);
    }
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
                "attachment or spring to something that holds (contact does not), or `integrator: "
                "implicit_euler`",
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

/// Whole skeletons and bones that are not there: the file's other references are known by now.
static sn_status require_probed_things(const sn_scene_job *job, const sn_model *model) {
    sn_status status = SN_OK;
    const sn_scene_output_section *output = &job->scene->content.output;
    for (int32_t i = 0; i < output->probe_count && status == SN_OK; i++) {
        const sn_scene_probe_item *item = &output->probes[i];
        const char *key = item->holder == SN_HOLDER_BODY ? "body" : "rigid";
        int32_t index = 0;
        status = sn_scene_blame(job, sn_probe_find(job->context, model, &item->def, &index),
                                sn_scene_place(item->node, key), "output.probes.%s.%s", item->def.name, key);
    }
    return status;
}

sn_status sn_scene_review(const sn_scene_job *job, const sn_model *model) {
    sn_model_info info = sn_model_get_info(model);
    sn_status status = require_anchors(job, &info);
    if (status == SN_OK)
        status = require_projective(job);
    if (status == SN_OK)
        status = require_probed_things(job, model);
    if (status < 0)
        return status;
    warn_about_locking(job);
    warn_about_units(job, &info);
    warn_about_idle_materials(job);
    warn_about_idle_shapes(job);
    warn_about_falling_bodies(job, model);
    warn_about_contacts(job, model);
    warn_about_fast_turns(job, model);
    warn_about_stiff_bodies(job, model);
    warn_about_stiffening(job);
    return warn_about_open_meshes(job, model);
}
