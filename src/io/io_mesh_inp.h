/// Abaqus and CalculiX .inp while it is read: what its lines and its sets share.
#ifndef SN_IO_MESH_INP_H
#define SN_IO_MESH_INP_H

#include "io/io_mesh_build.h"

enum {
    SN_INP_DEPTH_MAX = 8, ///< Of files in files, and of sets in sets.
    SN_INP_PARAMETERS_MAX = 16
};

/// Kinds of elements: names that start so, nodes, corners that are taken, list ('e', 'f', 't').
typedef struct sn_inp_kind {
    const char *name;
    uint8_t nodes, corners;
    char list;
} sn_inp_kind;

/// A word of a keyword's line.
typedef struct sn_inp_parameter {
    sn_word name, value;
} sn_inp_parameter;

/// What the lines of a keyword are.
typedef enum sn_inp_mode {
    SN_INP_MODE_SKIP = 0,
    SN_INP_MODE_NODES,
    SN_INP_MODE_ELEMENTS,
    SN_INP_MODE_OTHER_ELEMENTS, ///< Of a kind that is not read.
    SN_INP_MODE_SET,
    SN_INP_MODE_INSTANCE
} sn_inp_mode;

/// Members of a set: numbers first, first + step, ..., last, or all of another set.
typedef struct sn_inp_range {
    int32_t set, first, last, step;
    int32_t other;  ///< -1: the numbers count.
    bool of_places; ///< The numbers are places in the list of nodes, not the file's.
} sn_inp_range;

/// Sets of elements or of nodes, each with names of their own.
typedef struct sn_inp_sets {
    sn_name_table names;
    sn_inp_range *range;
    size_t range_count, range_capacity;
} sn_inp_sets;

/// An element that was read.
typedef struct sn_inp_element {
    int32_t tag, place; ///< Number in the file, and place in its list.
    int32_t set;        ///< Of its *ELEMENT line, or -1.
    int32_t next;       ///< Next one, by number, that has no group; itself if it has none.
    char list;
} sn_inp_element;

typedef struct sn_inp_reader {
    sn_mesh_builder mesh;
    int32_t includes, parts;
    bool noted_instance, in_assembly, in_instance;
    sn_inp_mode mode;
    sn_inp_parameter parameter[SN_INP_PARAMETERS_MAX];
    int32_t parameter_count;
    const sn_inp_kind *kind;
    char type[24];     ///< Of elements, as the file calls it.
    sn_inp_sets *sets; ///< Those that the keyword is about, and its set among them, or -1.
    int32_t set;
    bool generate;
    int32_t *tag; ///< Of the nodes.
    size_t tag_capacity;
    sn_tag_map nodes;
    bool nodes_are_mapped;
    sn_inp_sets element_sets, node_sets;
    bool *is_section; ///< [element_sets.names.count] whether a section gives it a material
    size_t section_capacity;
    sn_inp_element *element;
    size_t element_count, element_capacity;
    int64_t work;
} sn_inp_reader;

/// Maps the file's numbers of nodes to vertices, if it has not been done since the last *NODE. Refuses
/// numbers that occur twice.
SN_NODISCARD sn_status sn_inp_map_nodes(sn_inp_reader *inp, sn_text *text);
/// Gives the elements the groups of their sets, and the mesh the sets of its nodes, when all lines are read.
SN_NODISCARD sn_status sn_inp_take_groups(sn_inp_reader *inp);
SN_NODISCARD sn_status sn_inp_take_node_sets(sn_inp_reader *inp);

#endif
