// Bodies: the mesh from a file or made, filled with tets if it is a surface, and its materials.
#include "math/math_mat3.h"
#include "scene/scene_build.h"

#include <string.h>

/// A lattice that holds so much more than its surface encloses is worth a warning.
static const double EXCESS_LARGE = 0.05;

/// What a body is made from while it is being added.
typedef struct body_parts {
    sn_mesh_data *data;
    sn_mesh *mesh;
    sn_embedding *embedding;
    sn_material_def *materials; ///< [entries of `material`]
    int32_t *tet_material;      ///< [tets]
} body_parts;

static void release_parts(sn_context *ctx, body_parts *parts) {
    SN_RELEASE(ctx, parts->tet_material);
    SN_RELEASE(ctx, parts->materials);
    sn_embedding_destroy(&parts->embedding);
    sn_mesh_destroy(&parts->mesh);
    sn_mesh_data_destroy(&parts->data);
}

static sn_status load_data(const sn_scene_job *job, const sn_scene_body_item *body, sn_mesh_data **out_data) {
    sn_status status = SN_OK;
    char *path = NULL;
    double unit = job->scene->units.scale[SN_UNIT_LENGTH];
    sn_mesh_data *data = NULL;
    if (body->source == SN_SHELL_MAKE)
        return sn_mesh_make(job->context, &body->make, out_data, NULL);
    SN_TRY(sn_scene_file(job, body->mesh, &path));
    SN_TRY(sn_mesh_data_read(job->context, path, &data));
    for (size_t i = 0; i < 3 * (size_t)data->vertex_count; i++)
        data->position[i] *= unit;
    *out_data = data;
cleanup:
    SN_RELEASE(job->context, path);
    return status;
}

static bool has_tets(const sn_mesh_data *data) {
    for (int32_t b = 0; b < data->block_count; b++)
        if (data->block[b].kind == SN_CELL_TET && data->block[b].count > 0)
            return true;
    return false;
}

static double tet_volume(const sn_mesh *mesh, int32_t t) {
    const double *X = sn_mesh_positions(mesh);
    const int32_t *tet = sn_mesh_tets(mesh) + 4 * (size_t)t;
    double edge[9];
    for (int a = 0; a < 3; a++)
        sn_sub3(X + 3 * (size_t)tet[a + 1], X + 3 * (size_t)tet[0], edge + 3 * a);
    return sn_det3(edge) / 6;
}

/// A body thinner than a few cells bends too stiffly.
static void warn_if_thin(const sn_scene_job *job, const sn_scene_body_item *body, const body_parts *parts) {
    enum { CELLS_ENOUGH = 4 };
    const sn_mesh_data *data = parts->data;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < 3 * (size_t)data->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], data->position[i]);
        high[i % 3] = fmax(high[i % 3], data->position[i]);
    }
    double tets_per_cell = body->embed.kind == SN_LATTICE_KUHN ? 6 : 12;
    double edge = cbrt(tets_per_cell * tet_volume(parts->mesh, 0));
    double cells = fmin(high[0] - low[0], fmin(high[1] - low[1], high[2] - low[2])) / edge;
    char place[640];
    if (cells < CELLS_ENOUGH)
        sn_log(
            job->context, SN_LOG_WARNING,
            "%sbodies.%s.embed: the body is only %.2g cells thick and will bend too stiffly; use more cells",
            sn_node_place(&job->scene->source, sn_scene_place(body->node, "embed"), place, sizeof place),
            body->name, cells);
}

static double solid_volume(const sn_mesh *mesh) {
    const double *fraction = sn_mesh_tet_fractions(mesh);
    double volume = 0;
    for (int32_t t = 0; t < sn_mesh_tet_count(mesh); t++)
        volume += tet_volume(mesh, t) * (fraction ? fraction[t] : 1);
    return volume;
}

/// Tets count for their solid parts, but none for less than a least part: says so where that changes the mass
/// by much.
static sn_status warn_if_heavy(const sn_scene_job *job, const sn_scene_body_item *body,
                               const body_parts *parts) {
    sn_mesh_report surface;
    sn_status status = sn_mesh_data_report(parts->data, &surface);
    double excess = solid_volume(parts->mesh) / fabs(surface.volume) - 1;
    char place[640];
    if (status == SN_OK && surface.boundary_edges == 0 && isfinite(excess) && excess > EXCESS_LARGE)
        sn_log(
            job->context, SN_LOG_WARNING,
            "%sbodies.%s.embed: the lattice holds %.0f %% more volume, and mass, than the surface encloses, "
            "because no tet counts for less than %.0f %% of it; more cells bring it closer",
            sn_node_place(&job->scene->source, sn_scene_place(body->node, "embed"), place, sizeof place),
            body->name, 100 * excess, 100 * SN_TET_FRACTION_LEAST);
    return status;
}

static sn_status take_tets(const sn_scene_job *job, const sn_scene_body_item *body, body_parts *parts) {
    char place[640];
    if (body->embedded)
        return sn_fail(
            job->context, SN_ERR_SCENE,
            "the mesh holds tetrahedra already; allowed: no `embed`, or a surface without tetrahedra");
    sn_status status = sn_mesh_create(job->context, parts->data, true, &parts->mesh);
    if (status < 0)
        return status;
    int32_t dropped = parts->data->vertex_count - sn_mesh_node_count(parts->mesh);
    if (dropped > 0)
        sn_log(job->context, SN_LOG_WARNING, "%sbodies.%s: %d vertices in no tetrahedron were dropped",
               sn_node_place(&job->scene->source, body->node, place, sizeof place), body->name, (int)dropped);
    return SN_OK;
}

static sn_status fill_surface(const sn_scene_job *job, const sn_scene_body_item *body, body_parts *parts) {
    char place[640], where[1024] = "";
    sn_text_append(
        where, sizeof where, "%sbodies.%s.embed: ",
        sn_node_place(&job->scene->source, sn_scene_place(body->node, "embed"), place, sizeof place),
        body->name);
    const char *before = sn_log_place(job->context, where);
    sn_status status =
        sn_lattice_create(job->context, parts->data, &body->embed, &parts->mesh, &parts->embedding);
    sn_log_place(job->context, before);
    return status;
}

static sn_status make_mesh(const sn_scene_job *job, const sn_scene_body_item *body, body_parts *parts) {
    if (has_tets(parts->data))
        return take_tets(job, body, parts);
    if (!body->embedded)
        return sn_fail(
            job->context, SN_ERR_SCENE,
            "the mesh is a surface and holds no tetrahedra to simulate; allowed: a mesh with tetrahedra, or "
            "`embed: {lattice: bcc, cells: 20}` to fill it");
    sn_status status = fill_surface(job, body, parts);
    if (status == SN_OK) {
        warn_if_thin(job, body, parts);
        status = warn_if_heavy(job, body, parts);
    }
    return status;
}

static const sn_scene_material_item *find_material(const sn_scene_job *job, const char *name) {
    const sn_scene_content *content = &job->scene->content;
    for (int32_t i = 0; i < content->material_count; i++)
        if (strcmp(content->materials[i].name, name) == 0)
            return &content->materials[i];
    return NULL;
}

static int32_t find_group(const sn_mesh *mesh, const char *name) {
    for (int32_t g = 0; g < sn_mesh_group_count(mesh); g++)
        if (strcmp(sn_mesh_group_name(mesh, g), name) == 0)
            return g;
    return -1;
}

static sn_status no_such_group(const sn_scene_job *job, const sn_mesh *mesh, const char *name) {
    char known[512] = "";
    const char *nearest = NULL;
    for (int32_t g = 0; g < sn_mesh_group_count(mesh); g++) {
        sn_text_append(known, sizeof known, "%s%.64s", g ? ", " : "", sn_mesh_group_name(mesh, g));
        sn_text_nearest(name, sn_mesh_group_name(mesh, g), &nearest);
    }
    return sn_fail(job->context, SN_ERR_SCENE,
                   "%.64s: the mesh has no such group of tetrahedra%s%s; allowed: %s", name,
                   nearest ? "; did you mean " : "", nearest ? nearest : "",
                   known[0] ? known : "default alone, because the mesh has no groups");
}

/// Entry of `material` for a tet's group; -1: none, not even a default.
static int32_t entry_of_group(const sn_scene_body_item *body, const sn_mesh *mesh, int32_t group) {
    int32_t found = -1;
    for (int32_t i = 0; i < body->material_count; i++) {
        const char *key = body->materials[i].key;
        if (!key && found < 0)
            found = i;
        if (key && group >= 0 && strcmp(key, sn_mesh_group_name(mesh, group)) == 0)
            found = i;
    }
    return found;
}

static sn_status assign_materials(const sn_scene_job *job, const sn_scene_body_item *body,
                                  body_parts *parts) {
    sn_status status = SN_OK;
    sn_context *ctx = job->context;
    const sn_mesh *mesh = parts->mesh;
    const int32_t *group = sn_mesh_tet_groups(mesh);
    int32_t tets = sn_mesh_tet_count(mesh);
    SN_TRY_NEW(ctx, parts->materials, body->material_count);
    SN_TRY_NEW(ctx, parts->tet_material, tets);
    for (int32_t i = 0; i < body->material_count; i++) {
        const char *key = body->materials[i].key;
        parts->materials[i] = find_material(job, body->materials[i].name)->def;
        if (key && (!group || find_group(mesh, key) < 0))
            SN_TRY(no_such_group(job, mesh, key));
    }
    for (int32_t t = 0; t < tets; t++) {
        parts->tet_material[t] = entry_of_group(body, mesh, group ? group[t] : -1);
        if (parts->tet_material[t] < 0) {
            status = sn_fail(ctx, SN_ERR_SCENE,
                             "tetrahedron %d (group %s) has no material; allowed: an entry for the "
                             "group, or `default`",
                             (int)t, group && group[t] >= 0 ? sn_mesh_group_name(mesh, group[t]) : "none");
            goto cleanup;
        }
    }
cleanup:
    return status;
}

sn_status sn_scene_add_body(sn_scene_job *job, int32_t index) {
    sn_status status = SN_OK;
    const sn_scene_body_item *body = &job->scene->content.bodies[index];
    const char *source = body->source == SN_SHELL_MAKE ? "make" : "mesh";
    const sn_node *place = sn_scene_place(body->node, source);
    body_parts parts = {0};
    SN_TRY(sn_scene_blame(job, load_data(job, body, &parts.data), place, "bodies.%s.%s", body->name, source));
    SN_TRY(sn_scene_blame(job, make_mesh(job, body, &parts), place, "bodies.%s.%s", body->name, source));
    SN_TRY(sn_scene_blame(job, assign_materials(job, body, &parts), sn_scene_place(body->node, "material"),
                          "bodies.%s.material", body->name));
    sn_body_def def = body->def;
    def.name = body->name;
    def.mesh = parts.mesh;
    def.material_count = body->material_count;
    def.materials = parts.materials;
    def.tet_material = parts.tet_material;
    def.surface = parts.embedding ? parts.data : NULL;
    def.embedding = parts.embedding;
    SN_TRY(sn_scene_blame(job, sn_model_add_body(job->builder, &def, &job->bodies[index]), body->node,
                          "bodies.%s", body->name));
cleanup:
    release_parts(job->context, &parts);
    return status;
}
