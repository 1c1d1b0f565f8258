#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Bodies that one holds in a hand or meets on the street lie between; numbers outside hint at another unit
/// than m.
static const double smallest_usual = 1e-3, largest_usual = 20;

/// Prints one problem with its hint and counts it.
static void problem(int *count, bool present, const char *what, const char *hint) {
    if (!present)
        return;
    printf("  - %s\n    hint: %s\n", what, hint);
    ++*count;
}

static void vertex_problems(const sn_mesh_report *report, int *count) {
    char what[160];
    snprintf(what, sizeof what, "%d vertices are NaN or infinite, first number %d",
             report->non_finite_vertices, report->first_non_finite_vertex + 1);
    problem(count, report->non_finite_vertices > 0, what,
            "the program that wrote the file failed; write it again");
    snprintf(what, sizeof what, "%d vertices stand exactly where an earlier one does",
             report->duplicate_vertices);
    problem(
        count, report->duplicate_vertices > 0, what,
        "where the surface should be whole, merge them (Blender: Merge by Distance, 0 m; a larger distance "
        "closes gaps between parts); where parts only touch, leave them");
    snprintf(what, sizeof what, "%d vertices belong to no cell", report->unreferenced_vertices);
    problem(count, report->unreferenced_vertices > 0, what,
            "harmless in a surface; remove them from a tet mesh");
}

static void surface_problems(const sn_mesh_report *report, int *count) {
    char what[160];
    bool surface = report->tet_count == 0;
    snprintf(what, sizeof what, "%d boundary edges: the surface has holes or is a sheet",
             report->boundary_edges);
    problem(
        count, surface && report->boundary_edges > 0, what,
        "a lattice can still be made (inside is where the winding number says so); close large holes first "
        "(Blender: Select Non Manifold, Fill)");
    snprintf(what, sizeof what, "%d %s", report->nonmanifold_edges,
             surface ? "edges belong to more than two triangles" : "edges or faces have too many neighbors");
    problem(count, report->nonmanifold_edges > 0, what,
            "separate the sheets that meet there, or remove inner triangles and doubled cells");
    snprintf(what, sizeof what, "%d edges between triangles that face opposite ways: some are flipped",
             report->misoriented_edges);
    problem(count, report->misoriented_edges > 0, what,
            "make the normals consistent (Blender: Recalculate Outside)");
    problem(count, surface && report->boundary_edges == 0 && report->volume < 0,
            "the surface is inside out: its volume is negative",
            "flip all triangles (Blender: Flip Normals)");
    snprintf(what, sizeof what, "%d triangles are flat or name a vertex twice", report->degenerate_triangles);
    problem(count, report->degenerate_triangles > 0, what,
            "harmless for a lattice; dissolve them (Blender: Degenerate Dissolve) otherwise");
}

static void tet_problems(const sn_mesh_report *report, int *count) {
    char what[160];
    snprintf(what, sizeof what, "%d tets are inside out, first bad one number %d", report->inverted_tets,
             report->first_bad_cell + 1);
    problem(count, report->inverted_tets > 0, what,
            "swap two vertices of each (the fourth must lie above the first three seen counterclockwise), or "
            "mesh again");
    snprintf(what, sizeof what, "%d tets are flat or name a vertex twice, first bad one number %d",
             report->degenerate_tets, report->first_bad_cell + 1);
    problem(count, report->degenerate_tets > 0, what, "remove them, or mesh again");
    snprintf(what, sizeof what, "%d tets are slivers (quality below 0.1)", report->quality_histogram[0]);
    problem(count, report->quality_histogram[0] > report->degenerate_tets + report->inverted_tets, what,
            "they make results stiff and solvers slow; optimize the mesh (gmsh -optimize)");
}

static double extent(const sn_mesh_report *report) {
    double longest = 0;
    for (int axis = 0; axis < 3; axis++)
        longest = fmax(longest, report->high[axis] - report->low[axis]);
    return longest;
}

static void unit_problems(const sn_mesh_report *report, int *count) {
    char what[160];
    double longest = extent(report);
    snprintf(what, sizeof what, "the longest side is %g: taken as meters, that is very %s", longest,
             longest > largest_usual ? "large" : "small");
    problem(count, longest > largest_usual || (longest > 0 && longest < smallest_usual), what,
            "if the file is in mm, write units: {length: mm} in the scene");
}

static void content_problems(const sn_mesh_report *report, int *count) {
    problem(count, report->triangle_count + report->polygon_count + report->tet_count == 0,
            "there are neither faces nor tets: nothing to simulate",
            "export faces or tets as well as vertices");
}

static void loose_problems(const sn_mesh_report *report, int *count) {
    char what[160];
    int32_t loose = report->loose_vertices;
    snprintf(what, sizeof what, "%d loose vertices: %s", loose,
             report->tet_count > 0 ? "in edges or faces, but in no tet" : "in edges, but in no face");
    problem(count, loose > 0 && report->tet_count + report->triangle_count + report->polygon_count > 0, what,
            "they are left out of a body; remove them if they were to be part of it");
}

static void crossing_problems(const sn_mesh_data *data, const sn_mesh_report *report, int *count) {
    char what[160];
    sn_mesh_crossings found;
    if (report->tet_count > 0)
        return;
    if (sn_mesh_data_crossings(data, &found) != SN_OK) {
        problem(count, true, "could not look for triangles that cross", sn_context_message(data->context));
        return;
    }
    snprintf(what, sizeof what, "%s%lld pairs of triangles cross or touch, first those numbered %d and %d",
             found.complete ? "" : "at least ", (long long)found.count, found.first[0] + 1,
             found.first[1] + 1);
    problem(
        count, found.count > 0, what,
        "a lattice takes what any part encloses as inside; unite the parts (Blender: Boolean, Exact) where "
        "they must be one surface");
}

static void print_notes(const char *note, int32_t skipped) {
    if (!note[0])
        return;
    printf("notes of the reader (%d skipped):\n", skipped);
    while (*note) {
        size_t length = strcspn(note, "\n");
        printf("  - %.*s\n", (int)length, note);
        note += length + (note[length] == '\n');
    }
}

static void print_quality(const sn_mesh_report *report) {
    printf("  quality     min %.3g; tets per tenth from 0 to 1:", report->quality_min);
    for (int i = 0; i < 10; i++)
        printf(" %d", report->quality_histogram[i]);
    printf("\n");
}

static void print_facts(const sn_mesh_data *data, const sn_mesh_report *report) {
    printf("facts:\n  vertices    %d\n", report->vertex_count);
    if (report->edge_count > 0)
        printf("  edges       %d\n", report->edge_count);
    if (report->polygon_count > 0)
        printf("  polygons    %d\n", report->polygon_count);
    printf("  triangles   %d\n  tets        %d\n  pieces      %d\n", report->triangle_count,
           report->tet_count, report->components);
    printf("  bounds      %g %g %g to %g %g %g\n", report->low[0], report->low[1], report->low[2],
           report->high[0], report->high[1], report->high[2]);
    printf("  volume      %.6g%s\n", report->volume,
           report->tet_count == 0 && report->boundary_edges > 0 ? " (of an open surface: not meaningful)"
                                                                : "");
    printf("  edge length %.3g to %.3g\n", report->edge_min, report->edge_max);
    if (report->tet_count > 0)
        print_quality(report);
    if (data->uv_count > 0)
        printf("  uvs         %d\n", data->uv_count);
    for (int32_t g = 0; g < data->group_count && g < 20; g++)
        printf("  group       %s\n", data->group[g]);
    if (data->group_count > 20)
        printf("  group       ... %d in all\n", data->group_count);
    for (int32_t i = 0; i < data->set_count && i < 20; i++)
        printf("  node set    %s, %d vertices\n", data->set[i].name, data->set[i].count);
    if (data->set_count > 20)
        printf("  node set    ... %d in all\n", data->set_count);
}

void cli_print_mesh_report(const char *path, const sn_mesh_data *data, const sn_mesh_report *report) {
    int count = 0;
    bool surface = report->tet_count == 0 && report->triangle_count + report->polygon_count > 0;
    printf("%s: %s\n", path,
           report->tet_count > 0         ? "tetrahedral mesh"
           : !surface                    ? "no surface and no tets"
           : report->boundary_edges == 0 ? "closed surface"
                                         : "open surface");
    printf("problems:\n");
    content_problems(report, &count);
    vertex_problems(report, &count);
    tet_problems(report, &count);
    surface_problems(report, &count);
    loose_problems(report, &count);
    crossing_problems(data, report, &count);
    unit_problems(report, &count);
    if (count == 0)
        printf("  none\n");
    print_notes(data->note, data->skipped);
    print_facts(data, report);
    if (surface)
        printf("next: sinew mesh lattice %s BODY.msh\n", path);
}
