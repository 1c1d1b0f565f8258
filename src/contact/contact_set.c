#include "contact/contact_set.h"

#include "base/base_parallel.h"
#include "math/math_mat3.h"

#include <float.h>
#include <string.h>

/// In mean edges of the body: nearer points get a plane before they touch, so that the minimizer meets it
/// within its iteration.
static const double REACH = 0.05;
/// In mean edges: contacts that are open by less stay from step to step, so that flicker costs nothing.
static const double KEEP = 1e-3;
/// In mean edges: how near a sweep must come to a surface to have met it.
static const double SLACK = 1e-6;
/// In a step a plane turns by up to 30 degrees from where it began. With more, a point that is far behind a
/// round shape would be taken around it within the step, and all points of a fast body past it.
static const double LEAST_COSINE = 0.86;

enum { CONTACTS_PER_PROXY = 4, PROXY_GRAIN = 512, ROW_NODES = 2 * SN_PROXY_NODES };

struct sn_contact_set {
    sn_context *ctx;
    sn_contact_source source;
    int64_t *place_begin;        ///< [body_count] first proxy of a body in `place`
    double *place;               ///< [all proxies, 3] at the start of the step
    int64_t *slot_begin;         ///< [pair_count] first entry of a pair in `slot`
    int32_t *slot;               ///< [per pair, proxies] index of the contact, -1: none
    double *press, *most_press;  ///< [body_count] N: scratch; what may press in a renewal
    double *mean_stiffness;      ///< [body_count] Pa/m: of the proxies, 0 without any
    bool *met;                   ///< [most proxies of a body] scratch of detection
    sn_surface_place *meeting;   ///< [most proxies of a body] scratch: where they met a body
    sn_moving_surface **moving;  ///< [body_count] NULL but for bodies that are the other side of a pair
    int32_t *row_node;           ///< [capacity, ROW_NODES] of contacts between bodies
    double *row_weight;          ///< [capacity, ROW_NODES]
    sn_contact_pose *now, *then; ///< [shape_count]
    int32_t count, capacity, dropped;
    sn_contact_point *point; ///< [capacity] by pair, then proxy
    sn_contact_point *spare; ///< [capacity] the same memory again, for sorting
};

// ---- Memory

static int32_t proxy_count(const sn_contact_source *source, int32_t pair) {
    return source->proxies[source->pairs[pair].body]->count;
}

int32_t sn_contact_capacity(const sn_contact_source *source) {
    int64_t all = 0, proxies = 0;
    for (int32_t p = 0; p < source->pair_count; p++)
        all += proxy_count(source, p);
    for (int32_t b = 0; b < source->body_count; b++)
        proxies += source->proxies[b]->count;
    all = all < CONTACTS_PER_PROXY * proxies ? all : CONTACTS_PER_PROXY * proxies;
    return all < INT32_MAX ? (int32_t)all : INT32_MAX;
}

bool sn_contact_set_has_bodies(const sn_contact_set *set) {
    for (int32_t p = 0; p < set->source.pair_count; p++)
        if (set->source.pairs[p].other >= 0)
            return true;
    return false;
}

static double mean_stiffness(const sn_proxies *proxies) {
    double sum = 0, area = 0;
    for (int32_t i = 0; i < proxies->count; i++) {
        sum += proxies->stiffness[i] * proxies->area[i];
        area += proxies->area[i];
    }
    return area > 0 ? sum / area : 0;
}

/// What only contacts between bodies need.
static sn_status allocate_bodies(sn_contact_set *set, int32_t most) {
    const sn_contact_source *s = &set->source;
    sn_status status = SN_OK;
    sn_context *ctx = set->ctx;
    SN_TRY_NEW_ZEROED(ctx, set->moving, s->body_count);
    SN_TRY_NEW_ZEROED(ctx, set->mean_stiffness, s->body_count);
    if (!sn_contact_set_has_bodies(set))
        return SN_OK;
    for (int32_t b = 0; b < s->body_count; b++) {
        set->mean_stiffness[b] = mean_stiffness(s->proxies[b]);
        if (s->solids[b])
            SN_TRY(sn_moving_surface_create(ctx, s->solids[b], &set->moving[b]));
    }
    SN_TRY_NEW(ctx, set->meeting, most);
    SN_TRY_NEW(ctx, set->row_node, ROW_NODES * (size_t)set->capacity);
    SN_TRY_NEW(ctx, set->row_weight, ROW_NODES * (size_t)set->capacity);
cleanup:
    return status;
}

static sn_status allocate(sn_contact_set *set) {
    const sn_contact_source *s = &set->source;
    sn_status status = SN_OK;
    sn_context *ctx = set->ctx;
    int64_t slots = 0, places = 0;
    int32_t most = 0;
    SN_TRY_NEW(ctx, set->place_begin, s->body_count);
    SN_TRY_NEW(ctx, set->slot_begin, s->pair_count);
    for (int32_t b = 0; b < s->body_count; b++) {
        set->place_begin[b] = places;
        places += s->proxies[b]->count;
        most = s->proxies[b]->count > most ? s->proxies[b]->count : most;
    }
    for (int32_t p = 0; p < s->pair_count; p++) {
        set->slot_begin[p] = slots;
        slots += proxy_count(s, p);
    }
    set->capacity = sn_contact_capacity(s);
    SN_TRY_NEW(ctx, set->place, 3 * (size_t)places);
    SN_TRY_NEW(ctx, set->slot, slots);
    SN_TRY_NEW(ctx, set->met, most);
    SN_TRY_NEW(ctx, set->press, s->body_count);
    SN_TRY_NEW(ctx, set->most_press, s->body_count);
    SN_TRY_NEW(ctx, set->now, s->shape_count);
    SN_TRY_NEW(ctx, set->then, s->shape_count);
    SN_TRY_NEW(ctx, set->point, set->capacity);
    SN_TRY_NEW(ctx, set->spare, set->capacity);
    for (int64_t i = 0; i < slots; i++)
        set->slot[i] = -1;
    SN_TRY(allocate_bodies(set, most));
cleanup:
    return status;
}

sn_status sn_contact_set_create(sn_context *ctx, const sn_contact_source *source, sn_contact_set **out_set) {
    sn_contact_set *set = NULL;
    sn_status status = sn_new_zeroed(ctx, 1, sizeof *set, (void **)&set);
    if (status < 0)
        return status;
    set->ctx = ctx;
    set->source = *source;
    status = allocate(set);
    if (status == SN_OK)
        *out_set = set;
    else
        sn_contact_set_destroy(&set);
    return status;
}

void sn_contact_set_destroy(sn_contact_set **set) {
    if (!set || !*set)
        return;
    sn_contact_set *old = *set;
    sn_context *ctx = old->ctx;
    SN_RELEASE(ctx, old->place_begin);
    SN_RELEASE(ctx, old->slot_begin);
    SN_RELEASE(ctx, old->place);
    SN_RELEASE(ctx, old->slot);
    SN_RELEASE(ctx, old->met);
    for (int32_t b = 0; old->moving && b < old->source.body_count; b++)
        sn_moving_surface_destroy(&old->moving[b]);
    SN_RELEASE(ctx, old->moving);
    SN_RELEASE(ctx, old->mean_stiffness);
    SN_RELEASE(ctx, old->meeting);
    SN_RELEASE(ctx, old->row_node);
    SN_RELEASE(ctx, old->row_weight);
    SN_RELEASE(ctx, old->press);
    SN_RELEASE(ctx, old->most_press);
    SN_RELEASE(ctx, old->now);
    SN_RELEASE(ctx, old->then);
    SN_RELEASE(ctx, old->point);
    SN_RELEASE(ctx, old->spare);
    sn_release(ctx, old);
    *set = NULL;
}

int32_t sn_contact_set_count(const sn_contact_set *set) {
    return set->count;
}

sn_contact_point *sn_contact_set_points(sn_contact_set *set) {
    return set->point;
}

int32_t sn_contact_set_dropped(const sn_contact_set *set) {
    return set->dropped;
}

// ---- Between world and shape

static void to_world(const sn_contact_pose *pose, const double X[3], double out[3]) {
    sn_mul3(pose->R, X, out);
    for (int k = 0; k < 3; k++)
        out[k] += pose->translation[k];
}

static void to_rest(const sn_contact_pose *pose, const double x[3], double out[3]) {
    double arm[3];
    sn_sub3(x, pose->translation, arm);
    sn_mul3_tn(pose->R, arm, out);
}

static const sn_contact_pose *pose_of(const sn_contact_set *set, const sn_contact_point *c) {
    return &set->then[set->source.pairs[c->record.pair].shape];
}

static const sn_contact_pair *pair_of(const sn_contact_set *set, const sn_contact_point *c) {
    return &set->source.pairs[c->record.pair];
}

/// The plane of the record on a shape, in the world.
static void carry_plane(const sn_contact_set *set, sn_contact_point *c) {
    const sn_contact_pose *pose = pose_of(set, c);
    to_world(pose, c->record.foot, c->foot);
    to_world(pose, c->record.anchor, c->anchor);
    sn_mul3(pose->R, c->record.normal, c->normal);
}

static double gap_at(const sn_contact_point *c, const double p[3]) {
    double arm[3];
    sn_sub3(p, c->foot, arm);
    return sn_dot3(c->normal, arm);
}

// ---- On bodies

static const sn_moving_surface *surface_of(const sn_contact_set *set, const sn_contact_point *c) {
    return set->moving[pair_of(set, c)->other];
}

static sn_surface_place foot_of(const sn_contact_point *c) {
    sn_surface_place place = {.triangle = c->record.triangle};
    memcpy(place.weight, c->record.foot, sizeof place.weight);
    return place;
}

static void set_foot(sn_contact_point *c, const sn_surface_place *place) {
    c->record.triangle = place->triangle;
    memcpy(c->record.foot, place->weight, sizeof place->weight);
}

static void set_anchor(sn_contact_point *c, const sn_surface_place *place) {
    c->record.anchor_triangle = place->triangle;
    memcpy(c->record.anchor, place->weight, sizeof place->weight);
}

/// Where the proxy of a contact is.
static void proxy_place(const sn_contact_set *set, const sn_contact_point *c, const double *x,
                        double out[3]) {
    sn_proxy_place(set->source.proxies[pair_of(set, c)->body], c->record.proxy, x, out);
}

/// Nodes and weights of the way from foot to proxy. A node of both sides stands once.
static void fill_row(const sn_contact_set *set, sn_contact_point *c) {
    const sn_proxies *proxies = set->source.proxies[pair_of(set, c)->body];
    int32_t *node = set->row_node + (c->node - set->row_node), other[4];
    double *weight = set->row_weight + (c->weight - set->row_weight), share[4];
    sn_surface_place foot = foot_of(c);
    int32_t count = sn_solid_carriers(set->source.solids[pair_of(set, c)->other], &foot, other, share);
    memcpy(node, proxies->node + SN_PROXY_NODES * (size_t)c->record.proxy, SN_PROXY_NODES * sizeof *node);
    memcpy(weight, proxies->weight + SN_PROXY_NODES * (size_t)c->record.proxy,
           SN_PROXY_NODES * sizeof *weight);
    c->node_count = SN_PROXY_NODES;
    for (int32_t i = 0; i < count; i++) {
        int32_t at = 0;
        while (at < c->node_count && node[at] != other[i])
            at++;
        if (at == c->node_count)
            node[c->node_count] = other[i], weight[c->node_count++] = 0;
        weight[at] -= share[i];
    }
}

/// The plane of the record on a body: foot and anchor as seen from what carries the foot.
static void carry_foot(const sn_contact_set *set, sn_contact_point *c, const double *x) {
    const sn_moving_surface *surface = surface_of(set, c);
    sn_surface_place foot = foot_of(c), anchor = {.triangle = c->record.anchor_triangle};
    double p[3], way[3], foot_place[3], anchor_place[3];
    memcpy(anchor.weight, c->record.anchor, sizeof anchor.weight);
    fill_row(set, c);
    proxy_place(set, c, x, p);
    sn_contact_place(c, x, way);
    sn_solid_place(surface->solid, &foot, surface->now, foot_place);
    sn_solid_place(surface->solid, &anchor, surface->now, anchor_place);
    for (int k = 0; k < 3; k++) {
        double carrier = p[k] - way[k];
        c->foot[k] = foot_place[k] - carrier;
        c->anchor[k] = anchor_place[k] - carrier;
        c->normal[k] = c->record.normal[k];
    }
}

/// Moves the foot over the surface of a body to where the point is now, as renew_plane() does on shapes. What
/// has come out at another side than it went in is out.
static void renew_foot(const sn_contact_set *set, sn_contact_point *c, const double *x) {
    const sn_moving_surface *surface = surface_of(set, c);
    sn_surface_place place = foot_of(c);
    double p[3], at[3], arm[3];
    proxy_place(set, c, x, p);
    sn_solid_place(surface->solid, &place, surface->now, at);
    sn_sub3(p, at, arm);
    double gap = sn_dot3(c->normal, arm);
    for (int k = 0; k < 3; k++)
        at[k] = p[k] - gap * c->normal[k];
    sn_moving_surface_walk(surface, at, &place);
    sn_moving_surface_choose(surface, p, c->normal, &place);
    const double *normal = surface->normal + 3 * (size_t)place.triangle;
    sn_solid_place(surface->solid, &place, surface->now, at);
    sn_sub3(p, at, arm);
    bool is_flat = sn_dot3(normal, normal) == 0;
    bool turns = sn_dot3(normal, c->first_normal) < LEAST_COSINE && sn_dot3(normal, arm) < 0;
    if (!is_flat && !turns) {
        set_foot(c, &place);
        memcpy(c->record.normal, normal, sizeof c->record.normal);
    }
    carry_foot(set, c, x);
}

// ---- The list

static int32_t *slot_of(sn_contact_set *set, int32_t pair, int32_t proxy) {
    return set->slot + set->slot_begin[pair] + proxy;
}

/// Pressure per depth of a point. Two bodies yield like springs in a row, and both have points, so that each
/// gets a half of what is asked for.
static double stiffness_of(const sn_contact_set *set, const sn_contact_record *record) {
    const sn_contact_pair *pair = &set->source.pairs[record->pair];
    double own = set->source.proxies[pair->body]->stiffness[record->proxy];
    double other = pair->other >= 0 ? set->mean_stiffness[pair->other] : 0;
    if (other == 0)
        return pair->stiffness > 0 ? pair->stiffness : own;
    return pair->stiffness > 0 ? 0.5 * pair->stiffness : own * other / (own + other);
}

/// Appends a contact of a record, at node positions x.
static void append(sn_contact_set *set, const sn_contact_record *record, const double *x) {
    const sn_contact_pair *pair = &set->source.pairs[record->pair];
    const sn_proxies *proxies = set->source.proxies[pair->body];
    double density = stiffness_of(set, record);
    sn_contact_point *c = &set->point[set->count];
    *c = (sn_contact_point){.record = *record,
                            .node_count = 4,
                            .node = proxies->node + 4 * (size_t)record->proxy,
                            .weight = proxies->weight + 4 * (size_t)record->proxy,
                            .on_body = pair->other >= 0,
                            .stiffness = density * proxies->area[record->proxy],
                            .friction = pair->friction};
    if (pair->other >= 0) {
        c->node = set->row_node + ROW_NODES * (size_t)set->count;
        c->weight = set->row_weight + ROW_NODES * (size_t)set->count;
        memcpy(c->record.normal, surface_of(set, c)->normal + 3 * (size_t)record->triangle,
               sizeof c->record.normal);
        carry_foot(set, c, x);
    } else {
        carry_plane(set, c);
    }
    memcpy(c->first_normal, c->record.normal, sizeof c->first_normal);
    c->normal_force = fmax(0, sn_dot3(record->force, c->normal));
    *slot_of(set, record->pair, record->proxy) = set->count++;
}

static void clear_slots(sn_contact_set *set) {
    for (int32_t i = 0; i < set->count; i++)
        *slot_of(set, set->point[i].record.pair, set->point[i].record.proxy) = -1;
    set->count = 0;
}

typedef struct place_job {
    const sn_proxies *proxies;
    const double *x;
    double *place;
} place_job;

static void note_places(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const place_job *job = data;
    for (int32_t i = begin; i < end; i++)
        sn_proxy_place(job->proxies, i, job->x, job->place + 3 * (size_t)i);
}

// ---- Renewal

/// Moves the plane of a contact to where its point is now: foot and normal of the surface near the point's
/// projection onto the old plane.
static void renew_plane(const sn_contact_set *set, sn_contact_point *c, const double p[3]) {
    const sn_contact_shape *shape = set->source.shapes[set->source.pairs[c->record.pair].shape];
    double X[3], arm[3], foot[3], normal[3];
    to_rest(pose_of(set, c), p, X);
    sn_sub3(X, c->record.foot, arm);
    double gap = sn_dot3(c->record.normal, arm);
    for (int k = 0; k < 3; k++)
        X[k] -= gap * c->record.normal[k];
    sn_contact_shape_nearest(shape, X, foot, normal);
    if (sn_dot3(normal, c->first_normal) < LEAST_COSINE)
        return;
    memcpy(c->record.foot, foot, sizeof foot);
    memcpy(c->record.normal, normal, sizeof normal);
    carry_plane(set, c);
}

typedef struct renew_job {
    sn_contact_set *set;
    const double *x;
    bool keep_forces;
} renew_job;

static void renew_range(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const renew_job *job = data;
    for (int32_t i = begin; i < end; i++) {
        sn_contact_point *c = &job->set->point[i];
        double p[3];
        sn_contact_place(c, job->x, p);
        if (c->on_body)
            renew_foot(job->set, c, job->x);
        else
            renew_plane(job->set, c, p);
        sn_contact_place(c, job->x, p);
        c->gap = gap_at(c, p);
        if (!job->keep_forces)
            c->normal_force = c->stiffness * fmax(0, -c->gap);
    }
}

/// What lengths are measured by: the smaller of the bodies' edges.
static double edge_of(const sn_contact_set *set, int32_t pair) {
    const sn_contact_pair *p = &set->source.pairs[pair];
    double edge = set->source.proxies[p->body]->edge;
    return p->other >= 0 ? fmin(edge, set->source.solids[p->other]->source.edge) : edge;
}

typedef struct detect_job {
    sn_contact_set *set;
    const double *x;
    int32_t pair;
    bool keep_forces;
} detect_job;

/// Ends of a proxy's way in this step, as the shape sees them.
static void find_way(const detect_job *job, int32_t proxy, double from[3], double to[3]) {
    const sn_contact_set *set = job->set;
    const sn_contact_pair *pair = &set->source.pairs[job->pair];
    double p[3];
    sn_proxy_place(set->source.proxies[pair->body], proxy, job->x, p);
    to_rest(&set->then[pair->shape], p, to);
    to_rest(&set->now[pair->shape], set->place + 3 * ((size_t)set->place_begin[pair->body] + (size_t)proxy),
            from);
}

/// Marks proxies that may have met the shape; most are far away, which one number tells.
static void look_for_meetings(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const detect_job *job = data;
    sn_contact_set *set = job->set;
    const sn_contact_shape *shape = set->source.shapes[set->source.pairs[job->pair].shape];
    double reach = REACH * edge_of(set, job->pair);
    for (int32_t i = begin; i < end; i++) {
        set->met[i] = false;
        if (*slot_of(set, job->pair, i) >= 0)
            continue;
        double from[3], to[3];
        find_way(job, i, from, to);
        set->met[i] = !(sn_contact_shape_bound(shape, to) > sn_distance3(from, to) + reach);
    }
}

/// Where a proxy that may have met the shape did so. False if it did not.
static bool find_meeting(const detect_job *job, int32_t proxy, double foot[3], double normal[3]) {
    const sn_contact_set *set = job->set;
    const sn_contact_shape *shape = set->source.shapes[set->source.pairs[job->pair].shape];
    double from[3], to[3], part, edge = edge_of(set, job->pair);
    find_way(job, proxy, from, to);
    // What began inside meets the shape there, and goes out by the shortest way.
    if (sn_contact_shape_sweep(shape, from, to, SLACK * edge, &part)) {
        double at[3];
        for (int k = 0; k < 3; k++)
            at[k] = from[k] + part * (to[k] - from[k]);
        sn_contact_shape_nearest(shape, at, foot, normal);
        return true;
    }
    return sn_contact_shape_nearest(shape, to, foot, normal) < REACH * edge;
}

/// Makes a contact of what a proxy has met, and renews it.
static void add_contact(const detect_job *job, const sn_contact_record *record) {
    sn_contact_set *set = job->set;
    if (set->count == set->capacity) {
        set->dropped++;
        return;
    }
    append(set, record, job->x);
    renew_job renew = {set, job->x, job->keep_forces};
    renew_range(&renew, set->count - 1, set->count, 0);
}

static void add_meeting(const detect_job *job, int32_t proxy, const double foot[3], const double normal[3]) {
    sn_contact_record record = {.pair = job->pair, .proxy = proxy, .triangle = -1, .anchor_triangle = -1};
    memcpy(record.foot, foot, sizeof record.foot);
    memcpy(record.anchor, foot, sizeof record.anchor);
    memcpy(record.normal, normal, sizeof record.normal);
    add_contact(job, &record);
}

/// A proxy as a point of its own body's surface.
static sn_surface_point own_point(const sn_contact_set *set, int32_t body, int32_t proxy) {
    const sn_proxies *proxies = set->source.proxies[body];
    sn_surface_point point = {.vertex = proxies->vertex[proxy], .triangle = proxies->triangle[proxy]};
    sn_proxy_place(proxies, proxy, set->source.rest, point.X);
    return point;
}

static const double *start_of(const sn_contact_set *set, int32_t body, int32_t proxy) {
    return set->place + 3 * ((size_t)set->place_begin[body] + (size_t)proxy);
}

/// Finds where proxies met a body on their way.
static void look_for_bodies(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const detect_job *job = data;
    sn_contact_set *set = job->set;
    const sn_contact_pair *pair = &set->source.pairs[job->pair];
    double reach = REACH * edge_of(set, job->pair);
    for (int32_t i = begin; i < end; i++) {
        set->met[i] = false;
        if (*slot_of(set, job->pair, i) >= 0)
            continue;
        sn_surface_point own = own_point(set, pair->body, i);
        double to[3];
        sn_proxy_place(set->source.proxies[pair->body], i, job->x, to);
        set->met[i] =
            sn_moving_surface_meet(set->moving[pair->other], start_of(set, pair->body, i), to, reach,
                                   pair->body == pair->other ? &own : NULL, &set->meeting[i]);
    }
}

/// Finds where proxies that a step begins with inside of a body go out.
static void look_for_exits(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const detect_job *job = data;
    sn_contact_set *set = job->set;
    const sn_contact_pair *pair = &set->source.pairs[job->pair];
    for (int32_t i = begin; i < end; i++) {
        set->met[i] = false;
        if (*slot_of(set, job->pair, i) >= 0)
            continue;
        sn_surface_point own = own_point(set, pair->body, i);
        const int32_t *carrier = set->source.proxies[pair->body]->node + SN_PROXY_NODES * (size_t)i;
        set->met[i] =
            sn_moving_surface_exit(set->moving[pair->other], job->x, start_of(set, pair->body, i), carrier,
                                   pair->body == pair->other ? &own : NULL, &set->meeting[i]);
    }
}

/// Makes contacts of the proxies that `look` finds at a body.
static void detect_bodies(detect_job *job, sn_range_task *look) {
    sn_contact_set *set = job->set;
    int32_t count = proxy_count(&set->source, job->pair);
    sn_parallel_for(set->ctx, count, PROXY_GRAIN, look, job);
    for (int32_t i = 0; i < count; i++) {
        const sn_surface_place *place = &set->meeting[i];
        sn_contact_record record = {
            .pair = job->pair, .proxy = i, .triangle = place->triangle, .anchor_triangle = place->triangle};
        if (!set->met[i])
            continue;
        memcpy(record.foot, place->weight, sizeof record.foot);
        memcpy(record.anchor, place->weight, sizeof record.anchor);
        add_contact(job, &record);
    }
}

/// Puts the list in the order of its slots, so that sums over it do not depend on when contacts were made.
static void sort(sn_contact_set *set) {
    int32_t count = 0;
    for (int32_t p = 0; p < set->source.pair_count; p++)
        for (int32_t i = 0; i < proxy_count(&set->source, p); i++) {
            int32_t *slot = slot_of(set, p, i);
            if (*slot < 0)
                continue;
            set->spare[count] = set->point[*slot];
            *slot = count++;
        }
    sn_contact_point *sorted = set->spare;
    set->spare = set->point;
    set->point = sorted;
}

static void detect(sn_contact_set *set, int32_t pair, const double *x, bool keep_forces) {
    detect_job job = {set, x, pair, keep_forces};
    int32_t count = proxy_count(&set->source, pair);
    if (set->source.pairs[pair].other >= 0) {
        detect_bodies(&job, look_for_bodies);
        return;
    }
    sn_parallel_for(set->ctx, count, PROXY_GRAIN, look_for_meetings, &job);
    for (int32_t i = 0; i < count; i++) {
        double foot[3], normal[3];
        if (set->met[i] && find_meeting(&job, i, foot, normal))
            add_meeting(&job, i, foot, normal);
    }
}

/// Whether some proxy of a body is in the box around the other one.
static bool boxes_meet(const sn_contact_set *set, const sn_contact_pair *pair) {
    const sn_moving_surface *surface = set->moving[pair->other];
    int32_t vertices = surface->solid->source.vertex_count;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t v = 0; v < (size_t)vertices; v++)
        for (size_t k = 0; k < 3; k++) {
            low[k] = fmin(low[k], surface->start[3 * v + k]);
            high[k] = fmax(high[k], surface->start[3 * v + k]);
        }
    for (int32_t i = 0; i < set->source.proxies[pair->body]->count; i++) {
        const double *p = start_of(set, pair->body, i);
        bool is_in = true;
        for (int k = 0; k < 3; k++)
            is_in &= p[k] >= low[k] && p[k] <= high[k];
        if (is_in)
            return true;
    }
    return false;
}

/// Contacts of what begins a step inside of a body without one.
static void find_inside(sn_contact_set *set, const double *x) {
    int32_t old_count = set->count;
    for (int32_t p = 0; p < set->source.pair_count; p++) {
        const sn_contact_pair *pair = &set->source.pairs[p];
        detect_job job = {set, x, p, true};
        if (pair->other < 0 || !boxes_meet(set, pair))
            continue;
        sn_moving_surface_find_tets(set->moving[pair->other], x);
        detect_bodies(&job, look_for_exits);
    }
    if (set->count > old_count)
        sort(set);
}

void sn_contact_set_begin(sn_contact_set *set, int32_t record_count, const sn_contact_record *records,
                          const double *x, const sn_contact_pose *now, const sn_contact_pose *then) {
    const sn_contact_source *s = &set->source;
    memcpy(set->now, now, (size_t)s->shape_count * sizeof *now);
    memcpy(set->then, then, (size_t)s->shape_count * sizeof *then);
    clear_slots(set);
    set->dropped = 0;
    for (int32_t b = 0; b < s->body_count; b++) {
        set->most_press[b] = INFINITY;
        place_job job = {s->proxies[b], x, set->place + 3 * (size_t)set->place_begin[b]};
        sn_parallel_for(set->ctx, job.proxies->count, PROXY_GRAIN, note_places, &job);
        if (set->moving[b])
            sn_moving_surface_begin(set->moving[b], x);
    }
    for (int32_t i = 0; i < record_count; i++)
        if (!records[i].ended)
            append(set, &records[i], x);
    find_inside(set, x);
}

static int32_t body_of(const sn_contact_set *set, const sn_contact_point *c) {
    return set->source.pairs[c->record.pair].body;
}

/// Sums of the friction cones' normal forces into set->press.
static void sum_press(sn_contact_set *set) {
    memset(set->press, 0, (size_t)set->source.body_count * sizeof *set->press);
    for (int32_t i = 0; i < set->count; i++)
        set->press[body_of(set, &set->point[i])] += set->point[i].normal_force;
}

static void limit_cones(sn_contact_set *set) {
    sum_press(set);
    for (int32_t i = 0; i < set->count; i++) {
        int32_t b = body_of(set, &set->point[i]);
        if (set->press[b] > set->most_press[b])
            set->point[i].normal_force *= set->most_press[b] / set->press[b];
    }
}

void sn_contact_set_limit_cones(sn_contact_set *set, double factor) {
    sum_press(set);
    for (int32_t b = 0; b < set->source.body_count; b++)
        set->most_press[b] = set->press[b] > 0 ? factor * set->press[b] : INFINITY;
}

static void move_surfaces(sn_contact_set *set, const double *x) {
    for (int32_t b = 0; b < set->source.body_count; b++)
        if (set->moving[b])
            sn_moving_surface_move(set->moving[b], x);
}

static void renew(sn_contact_set *set, const double *x, bool keep_forces) {
    renew_job job = {set, x, keep_forces};
    move_surfaces(set, x);
    sn_parallel_for(set->ctx, set->count, PROXY_GRAIN, renew_range, &job);
    set->dropped = 0;
    int32_t old_count = set->count;
    for (int32_t p = 0; p < set->source.pair_count; p++)
        detect(set, p, x, keep_forces);
    if (set->count > old_count)
        sort(set);
    if (!keep_forces)
        limit_cones(set);
}

void sn_contact_set_predict(sn_contact_set *set, const double *x) {
    renew(set, x, true);
}

void sn_contact_set_renew(sn_contact_set *set, const double *x) {
    renew(set, x, false);
}

double sn_contact_set_renew_cones(sn_contact_set *set, const double *x, double part) {
    double change = 0, press = 0;
    for (int32_t i = 0; i < set->count; i++) {
        sn_contact_point *c = &set->point[i];
        double p[3];
        sn_contact_place(c, x, p);
        double force = c->stiffness * fmax(0, -gap_at(c, p));
        change += c->friction * fabs(force - c->normal_force);
        press += force;
        c->normal_force += part * (force - c->normal_force);
    }
    return change > 0 ? change / press : 0;
}

// ---- Energy

/// Tangential way of a contact's point from its anchor. Returns its length.
double sn_contact_slip(const sn_contact_point *c, const double p[3], double u[3]) {
    sn_sub3(p, c->anchor, u);
    double along = sn_dot3(u, c->normal);
    for (int k = 0; k < 3; k++)
        u[k] -= along * c->normal[k];
    return sn_norm3(u);
}

bool sn_contact_sticks(const sn_contact_point *c, const double p[3]) {
    double u[3];
    if (!(c->friction > 0 && c->normal_force > 0))
        return false;
    return c->stiffness * sn_contact_slip(c, p, u) <= c->friction * c->normal_force;
}

static void add_outer(double factor, const double a[3], double *matrix) {
    for (int i = 0; matrix && i < 3; i++)
        for (int j = 0; j < 3; j++)
            matrix[3 * i + j] += factor * a[i] * a[j];
}

/// Friction's share: the Huber function of the tangential way.
static double friction_energy(const sn_contact_point *c, const double p[3], double force[3],
                              double *hessian) {
    double u[3], cone = c->friction * c->normal_force;
    double length = sn_contact_slip(c, p, u), k = c->stiffness;
    bool sticks = k * length <= cone;
    // Beyond the cone the force keeps its size, and only turns when the point moves across u.
    double rate = sticks ? k : cone / length;
    for (int i = 0; i < 3; i++) {
        force[i] -= rate * u[i];
        if (hessian)
            hessian[4 * i] += rate;
    }
    add_outer(-rate, c->normal, hessian);
    if (!sticks)
        add_outer(-rate / (length * length), u, hessian);
    return sticks ? 0.5 * k * length * length : cone * (length - 0.5 * cone / k);
}

double sn_contact_energy(const sn_contact_point *c, const double p[3], double out_force[3],
                         double *out_hessian) {
    double gap = gap_at(c, p), depth = fmax(0, -gap), energy = 0.5 * c->stiffness * depth * depth;
    for (int k = 0; k < 3; k++)
        out_force[k] = c->stiffness * depth * c->normal[k];
    if (out_hessian)
        memset(out_hessian, 0, 9 * sizeof *out_hessian);
    if (depth > 0)
        add_outer(c->stiffness, c->normal, out_hessian);
    if (c->friction > 0 && c->normal_force > 0)
        energy += friction_energy(c, p, out_force, out_hessian);
    return energy;
}

double sn_contact_set_evaluate(const sn_contact_set *set, const double *x, double factor, double *gradient,
                               double *out_rounding) {
    double sum = 0, rounding = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const sn_contact_point *c = &set->point[i];
        double p[3], force[3];
        sn_contact_place(c, x, p);
        sum += sn_contact_energy(c, p, force, NULL);
        // The way between two bodies is the difference of their places.
        rounding += sn_norm3(force) * (c->on_body ? sn_norm3(x + 3 * (size_t)c->node[0]) : sn_norm3(p));
        for (int32_t a = 0; gradient && a < c->node_count; a++)
            if (!set->source.pinned[c->node[a]])
                for (int k = 0; k < 3; k++)
                    gradient[3 * (size_t)c->node[a] + (size_t)k] -= factor * c->weight[a] * force[k];
    }
    if (out_rounding)
        *out_rounding = 4 * DBL_EPSILON * rounding;
    return sum;
}

// ---- The end of a step

/// Puts the anchor of a contact on a body at a place seen from what carries the foot.
static void put_anchor(const sn_contact_set *set, sn_contact_point *c, const double *x, const double way[3],
                       const double anchor[3]) {
    sn_surface_place place = foot_of(c);
    double at[3];
    proxy_place(set, c, x, at);
    for (int k = 0; k < 3; k++)
        at[k] += anchor[k] - way[k];
    sn_moving_surface_walk(surface_of(set, c), at, &place);
    set_anchor(c, &place);
}

/// Lets the anchor of a slipping contact follow, so that its force stays on the cone; an open one starts
/// afresh from its foot.
static void move_anchor(const sn_contact_set *set, sn_contact_point *c, const double *x, const double p[3]) {
    double u[3], cone = c->friction * c->normal_force, anchor[3];
    double length = sn_contact_slip(c, p, u);
    c->record.sticking = c->normal_force > 0 && c->friction > 0 && c->stiffness * length <= cone;
    if (c->record.sticking)
        return;
    if (c->normal_force == 0 || c->friction == 0) {
        memcpy(c->record.anchor, c->record.foot, sizeof c->record.anchor);
        c->record.anchor_triangle = c->record.triangle;
        return;
    }
    double gap = gap_at(c, p), left = cone / c->stiffness / length;
    for (int k = 0; k < 3; k++)
        anchor[k] = p[k] - gap * c->normal[k] - left * u[k];
    if (c->on_body)
        put_anchor(set, c, x, p, anchor);
    else
        to_rest(pose_of(set, c), anchor, c->record.anchor);
}

/// Whether a contact goes on: not where its point is well off its plane, nor where it lies off the shape
/// farther than behind the plane, as what has slid over a rim does.
static bool goes_on(const sn_contact_set *set, const sn_contact_point *c, const double p[3], double gap) {
    double keep = KEEP * edge_of(set, c->record.pair), X[3];
    if (gap >= keep)
        return false;
    if (c->on_body) {
        for (int k = 0; k < 3; k++)
            X[k] = p[k] - c->foot[k] - gap * c->normal[k];
        return sn_norm3(X) <= fmax(0, -gap) + keep;
    }
    const sn_contact_shape *shape = set->source.shapes[pair_of(set, c)->shape];
    to_rest(pose_of(set, c), p, X);
    return sn_contact_shape_distance(shape, X) <= fmax(0, -gap) + keep;
}

static bool end_contact(const sn_contact_set *set, sn_contact_point *c, const double *x,
                        sn_contact_outcome *outcome) {
    double p[3];
    sn_contact_place(c, x, p);
    double gap = gap_at(c, p);
    sn_contact_energy(c, p, c->record.force, NULL);
    c->record.depth = -gap;
    move_anchor(set, c, x, p);
    outcome->active += gap < 0;
    outcome->max_depth = fmax(outcome->max_depth, -gap);
    c->record.ended = !goes_on(set, c, p, gap);
    return !c->record.ended || sn_norm3(c->record.force) > 0;
}

int32_t sn_contact_set_end(sn_contact_set *set, const double *x, sn_contact_record *records,
                           sn_contact_outcome *out_outcome) {
    sn_contact_outcome outcome = {0};
    int32_t count = 0;
    move_surfaces(set, x);
    for (int32_t p = 0; p < set->source.pair_count; p++)
        for (int32_t i = 0; i < proxy_count(&set->source, p); i++) {
            int32_t at = *slot_of(set, p, i);
            if (at >= 0 && end_contact(set, &set->point[at], x, &outcome))
                records[count++] = set->point[at].record;
        }
    *out_outcome = outcome;
    return count;
}
