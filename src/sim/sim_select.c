#include "sim/sim_select.h"

#include "math/math_mat3.h"
#include "sim/sim_def.h"

#include <string.h>

static sn_status check_selection(sn_context *ctx, const sn_selection *select) {
    if ((unsigned)select->kind > SN_SELECT_NODES)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "select: kind = %d: must be 0 to %d", (int)select->kind,
                       (int)SN_SELECT_NODES);
    if (select->kind == SN_SELECT_GROUP && !select->group)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "select: group is NULL");
    if (select->kind == SN_SELECT_NODES &&
        (select->node_count < 0 || (select->node_count > 0 && !select->nodes)))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "select: nodes: %d of them, list %s", select->node_count,
                       select->nodes ? "given" : "NULL");
    return sn_field_check(ctx, &sn_selection_fields, select);
}

/// Whether a place lies in a box, ball or half space, or within `slack` of it.
static bool is_in_region(const sn_selection *select, const double x[3], double slack) {
    double arm[3], normal[3];
    switch (select->kind) {
    case SN_SELECT_BOX:
        for (int i = 0; i < 3; i++)
            if (x[i] < select->low[i] - slack || x[i] > select->high[i] + slack)
                return false;
        return true;
    case SN_SELECT_SPHERE:
        return sn_distance3(x, select->point) <= select->radius + slack;
    case SN_SELECT_PLANE:
        sn_sub3(x, select->point, arm);
        sn_unit3(select->normal, normal);
        return sn_dot3(arm, normal) <= slack;
    default:
        return true;
    }
}

static void mark_region(const sn_builder_body *body, const sn_selection *select, bool *marked) {
    const double *X = sn_mesh_positions(body->mesh);
    for (int32_t n = 0; n < sn_mesh_node_count(body->mesh); n++)
        marked[n] = select->kind == SN_SELECT_ALL ||
                    (!body->stray[n] && is_in_region(select, X + 3 * (size_t)n, SN_PLACE_SLACK * body->size));
}

/// Marks the nodes of the tets of a group; false if no tet has it.
static bool mark_tets(const sn_mesh *mesh, int32_t wanted, bool *marked) {
    const int32_t *group = sn_mesh_tet_groups(mesh), *tet = sn_mesh_tets(mesh);
    bool found = false;
    for (int32_t t = 0; group && t < sn_mesh_tet_count(mesh); t++)
        for (int a = 0; a < 4 && group[t] == wanted; a++, found = true)
            marked[tet[4 * (size_t)t + (size_t)a]] = true;
    return found;
}

static bool mark_set(const sn_mesh *mesh, int32_t set, bool *marked) {
    int32_t count = 0;
    const int32_t *node = sn_mesh_set_nodes(mesh, set, &count);
    for (int32_t i = 0; i < count; i++)
        marked[node[i]] = true;
    return count > 0;
}

/// First group by a name, or -1.
static int32_t find_group(const sn_mesh *mesh, const char *name) {
    for (int32_t g = 0; g < sn_mesh_group_count(mesh); g++)
        if (strcmp(sn_mesh_group_name(mesh, g), name) == 0)
            return g;
    return -1;
}

/// "a, b, c" of the groups and sets of a mesh, cut where the buffer ends.
static const char *list_groups(const sn_mesh *mesh, char *text, size_t size) {
    text[0] = '\0';
    for (int32_t g = 0; g < sn_mesh_group_count(mesh); g++)
        sn_text_append(text, size, "%s%s", text[0] ? ", " : "", sn_mesh_group_name(mesh, g));
    for (int32_t s = 0; s < sn_mesh_set_count(mesh); s++)
        if (find_group(mesh, sn_mesh_set_name(mesh, s)) < 0)
            sn_text_append(text, size, "%s%s", text[0] ? ", " : "", sn_mesh_set_name(mesh, s));
    return text[0] ? text : "none";
}

static sn_status mark_group(sn_context *ctx, const sn_builder_body *body, const char *name, bool *marked) {
    const sn_mesh *mesh = body->mesh;
    char known[512];
    const int32_t wanted = find_group(mesh, name);
    const bool found = wanted >= 0 && mark_tets(mesh, wanted, marked);
    bool named = wanted >= 0;
    for (int32_t s = 0; !found && s < sn_mesh_set_count(mesh); s++)
        if (strcmp(sn_mesh_set_name(mesh, s), name) == 0)
            named |= mark_set(mesh, s, marked);
    return named ? SN_OK
                 : sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                           "select: group = \"%s\": the mesh has no such group or set (it has: %s)", name,
                           list_groups(mesh, known, sizeof known));
}

static sn_status mark_list(sn_context *ctx, const sn_builder_body *body, const sn_selection *select,
                           bool *marked) {
    int32_t nodes = sn_mesh_node_count(body->mesh);
    for (int32_t i = 0; i < select->node_count; i++) {
        if (select->nodes[i] < 0 || select->nodes[i] >= nodes)
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "select: nodes[%d] = %d: must be 0 to %d", i,
                           select->nodes[i], nodes - 1);
        marked[select->nodes[i]] = true;
    }
    return SN_OK;
}

static sn_status fail_empty(sn_context *ctx, const sn_builder_body *body) {
    const double *low = body->low, *high = body->high;
    return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                   "select: picks no node; body %s reaches from [%g, %g, %g] to [%g, %g, %g]", body->name,
                   low[0], low[1], low[2], high[0], high[1], high[2]);
}

sn_status sn_select_nodes(sn_context *ctx, const sn_builder_body *body, const sn_selection *select,
                          int32_t *out_count, int32_t **out_nodes) {
    sn_status status = SN_OK;
    bool *marked = NULL;
    int32_t *picked = NULL, nodes = sn_mesh_node_count(body->mesh), count = 0;
    SN_TRY(check_selection(ctx, select));
    SN_TRY_NEW_ZEROED(ctx, marked, nodes);
    SN_TRY_NEW(ctx, picked, nodes);
    if (select->kind == SN_SELECT_GROUP)
        SN_TRY(mark_group(ctx, body, select->group, marked));
    else if (select->kind == SN_SELECT_NODES)
        SN_TRY(mark_list(ctx, body, select, marked));
    else
        mark_region(body, select, marked);
    for (int32_t n = 0; n < nodes; n++)
        if (marked[n])
            picked[count++] = n;
    if (count == 0)
        SN_TRY(fail_empty(ctx, body));
    *out_count = count;
    *out_nodes = picked;
    picked = NULL;
cleanup:
    SN_RELEASE(ctx, marked);
    SN_RELEASE(ctx, picked);
    return status;
}
