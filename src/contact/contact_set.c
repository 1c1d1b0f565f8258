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

enum { CONTACTS_PER_PROXY = 4, PROXY_GRAIN = 512 };

struct sn_contact_set {
    sn_context *ctx;
    sn_contact_source source;
    int64_t *place_begin;        ///< [body_count] first proxy of a body in `place`
    double *place;               ///< [all proxies, 3] at the start of the step
    int64_t *slot_begin;         ///< [pair_count] first entry of a pair in `slot`
    int32_t *slot;               ///< [per pair, proxies] index of the contact, -1: none
    double *press, *most_press;  ///< [body_count] N: scratch; what may press in a renewal
    bool *met;                   ///< [most proxies of a body] scratch of detection
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

/// The plane of the record, in the world.
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

// ---- The list

static int32_t *slot_of(sn_contact_set *set, int32_t pair, int32_t proxy) {
    return set->slot + set->slot_begin[pair] + proxy;
}

static void append(sn_contact_set *set, const sn_contact_record *record) {
    const sn_contact_pair *pair = &set->source.pairs[record->pair];
    const sn_proxies *proxies = set->source.proxies[pair->body];
    double density = pair->stiffness > 0 ? pair->stiffness : proxies->stiffness[record->proxy];
    sn_contact_point *c = &set->point[set->count];
    *c = (sn_contact_point){.record = *record,
                            .node_count = 4,
                            .node = proxies->node + 4 * (size_t)record->proxy,
                            .weight = proxies->weight + 4 * (size_t)record->proxy,
                            .stiffness = density * proxies->area[record->proxy],
                            .friction = pair->friction};
    memcpy(c->first_normal, record->normal, sizeof c->first_normal);
    carry_plane(set, c);
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

void sn_contact_set_begin(sn_contact_set *set, int32_t record_count, const sn_contact_record *records,
                          const double *x, const sn_contact_pose *now, const sn_contact_pose *then) {
    const sn_contact_source *s = &set->source;
    memcpy(set->now, now, (size_t)s->shape_count * sizeof *now);
    memcpy(set->then, then, (size_t)s->shape_count * sizeof *then);
    clear_slots(set);
    set->dropped = 0;
    for (int32_t i = 0; i < record_count; i++)
        if (!records[i].ended)
            append(set, &records[i]);
    for (int32_t b = 0; b < s->body_count; b++) {
        set->most_press[b] = INFINITY;
        place_job job = {s->proxies[b], x, set->place + 3 * (size_t)set->place_begin[b]};
        sn_parallel_for(set->ctx, job.proxies->count, PROXY_GRAIN, note_places, &job);
    }
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
        renew_plane(job->set, c, p);
        c->gap = gap_at(c, p);
        if (!job->keep_forces)
            c->normal_force = c->stiffness * fmax(0, -c->gap);
    }
}

static double edge_of(const sn_contact_set *set, int32_t pair) {
    return set->source.proxies[set->source.pairs[pair].body]->edge;
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

static void add_meeting(const detect_job *job, int32_t proxy, const double foot[3], const double normal[3]) {
    sn_contact_set *set = job->set;
    sn_contact_record record = {.pair = job->pair, .proxy = proxy};
    if (set->count == set->capacity) {
        set->dropped++;
        return;
    }
    memcpy(record.foot, foot, sizeof record.foot);
    memcpy(record.anchor, foot, sizeof record.anchor);
    memcpy(record.normal, normal, sizeof record.normal);
    append(set, &record);
    renew_job renew = {set, job->x, job->keep_forces};
    renew_range(&renew, set->count - 1, set->count, 0);
}

static void detect(sn_contact_set *set, int32_t pair, const double *x, bool keep_forces) {
    detect_job job = {set, x, pair, keep_forces};
    int32_t count = proxy_count(&set->source, pair);
    sn_parallel_for(set->ctx, count, PROXY_GRAIN, look_for_meetings, &job);
    for (int32_t i = 0; i < count; i++) {
        double foot[3], normal[3];
        if (set->met[i] && find_meeting(&job, i, foot, normal))
            add_meeting(&job, i, foot, normal);
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

static void renew(sn_contact_set *set, const double *x, bool keep_forces) {
    renew_job job = {set, x, keep_forces};
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
static double tangential_way(const sn_contact_point *c, const double p[3], double u[3]) {
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
    return c->stiffness * tangential_way(c, p, u) <= c->friction * c->normal_force;
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
    double length = tangential_way(c, p, u), k = c->stiffness;
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
        rounding += sn_norm3(force) * sn_norm3(p);
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

/// Lets the anchor of a slipping contact follow, so that its force stays on the cone; an open one starts
/// afresh from its foot.
static void move_anchor(const sn_contact_set *set, sn_contact_point *c, const double p[3]) {
    double u[3], cone = c->friction * c->normal_force, anchor[3];
    double length = tangential_way(c, p, u);
    c->record.sticking = c->normal_force > 0 && c->friction > 0 && c->stiffness * length <= cone;
    if (c->record.sticking)
        return;
    if (c->normal_force == 0 || c->friction == 0) {
        memcpy(c->record.anchor, c->record.foot, sizeof c->record.anchor);
        return;
    }
    double gap = gap_at(c, p), left = cone / c->stiffness / length;
    for (int k = 0; k < 3; k++)
        anchor[k] = p[k] - gap * c->normal[k] - left * u[k];
    to_rest(pose_of(set, c), anchor, c->record.anchor);
}

/// Whether a contact goes on: not where its point is well off its plane, nor where it lies off the shape
/// farther than behind the plane, as what has slid over a rim does.
static bool goes_on(const sn_contact_set *set, const sn_contact_point *c, const double p[3], double gap) {
    const sn_contact_shape *shape = set->source.shapes[set->source.pairs[c->record.pair].shape];
    double keep = KEEP * edge_of(set, c->record.pair), X[3];
    if (gap >= keep)
        return false;
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
    move_anchor(set, c, p);
    outcome->active += gap < 0;
    outcome->max_depth = fmax(outcome->max_depth, -gap);
    c->record.ended = !goes_on(set, c, p, gap);
    return !c->record.ended || sn_norm3(c->record.force) > 0;
}

int32_t sn_contact_set_end(sn_contact_set *set, const double *x, sn_contact_record *records,
                           sn_contact_outcome *out_outcome) {
    sn_contact_outcome outcome = {0};
    int32_t count = 0;
    for (int32_t p = 0; p < set->source.pair_count; p++)
        for (int32_t i = 0; i < proxy_count(&set->source, p); i++) {
            int32_t at = *slot_of(set, p, i);
            if (at >= 0 && end_contact(set, &set->point[at], x, &outcome))
                records[count++] = set->point[at].record;
        }
    *out_outcome = outcome;
    return count;
}
