#define _DEFAULT_SOURCE // flock()
#include "io/io_recorder_folder.h"

#include "io/io_checkpoint.h"
#include "io/io_recorder_file.h"
#include "io/io_rigid.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Names

static bool is_plain(char c) {
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

static bool has_name(const sn_body_names *names, const char *name) {
    for (int32_t i = 0; i < names->count; i++)
        if (strcmp(names->name[i], name) == 0)
            return true;
    return false;
}

sn_status sn_body_names_add(sn_context *ctx, sn_body_names *names, const char *body) {
    char base[SN_BODY_FILE_NAME_MAX + 1], chosen[SN_BODY_FILE_NAME_MAX + 16];
    snprintf(base, sizeof base, "%s", *body ? body : "body");
    for (char *at = base; *at; at++)
        if (!is_plain(*at) || (at == base && *at == '.'))
            *at = '_';
    snprintf(chosen, sizeof chosen, "%s", base);
    for (int32_t number = 2; has_name(names, chosen); number++)
        snprintf(chosen, sizeof chosen, "%s-%d", base, number);
    sn_status status = sn_new_text(ctx, chosen, &names->name[names->count]);
    names->count += status == SN_OK;
    return status;
}

/// Cuts an ending off a name, if it is there.
static bool cut_ending(char *name, const char *ending) {
    size_t length = strlen(name), tail = strlen(ending);
    bool there = length >= tail && strcmp(name + length - tail, ending) == 0;
    if (there)
        name[length - tail] = '\0';
    return there;
}

/// What a file of the folder is to us.
typedef struct file_kind {
    bool ours, temporary;
    int32_t frame; ///< Of VTU, OBJ and PNG files; -1: of no frame.
} file_kind;

/// Cuts "<body>.000012" to "<body>". @return 12; -1 and the name uncut if it does not end so.
static int32_t cut_frame_number(char *name) {
    size_t end = strlen(name), at = end;
    while (at > 0 && isdigit((unsigned char)name[at - 1]))
        at--;
    if (end - at < 6 || end - at > 10 || at < 2 || name[at - 1] != '.')
        return -1;
    long long frame = atoll(name + at);
    if (frame > INT32_MAX)
        return -1;
    name[at - 1] = '\0';
    return (int32_t)frame;
}

static file_kind kind_of(const sn_body_names *bodies, const char *file) {
    static const char *const names[] = {
        "stats.jsonl",       "summary.json",        "player.html",          "player.frames",
        "frames.pvd",        SN_CHECKPOINT_FILE,    "checkpoint.frames",    "contacts.csv",
        "probes.csv",        "frames.glb",          "frames.usda",          "frames.npz",
        SN_RIGID_SHAPES_NPY, SN_RIGID_VERTICES_NPY, SN_RIGID_TRIANGLES_NPY, SN_RIGID_POSES_NPY};
    static const char *const endings[] = {SN_SURFACE_NPY, SN_NODES_NPY,  SN_TRIANGLES_NPY,
                                          SN_TETS_NPY,    ".vtu.series", SN_SURFACE_OBJ};
    static const char *const caches[] = {".pc2", ".mdd"};
    char name[512];
    file_kind kind = {.frame = -1};
    snprintf(name, sizeof name, "%s", file);
    kind.temporary = cut_ending(name, ".tmp");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        kind.ours = kind.ours || strcmp(name, names[i]) == 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        kind.ours = kind.ours || cut_ending(name, endings[i]);
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        if (cut_ending(name, caches[i])) {
            kind.ours = has_name(bodies, name);
            break;
        }
    if (cut_ending(name, ".vtu") || cut_ending(name, ".obj")) {
        kind.frame = cut_frame_number(name);
        kind.ours = kind.frame >= 0;
    }
    if (cut_ending(name, ".png")) {
        kind.frame = cut_frame_number(name);
        kind.ours = kind.frame >= 0 && strcmp(name, "frame") == 0;
    }
    return kind;
}

// ---- The folder

sn_status sn_folder_make(sn_context *ctx, const char *directory) {
    char *path = NULL;
    sn_status status = sn_new_text(ctx, directory, &path);
    if (status < 0)
        return status;
    for (char *at = path + 1; status == SN_OK; at++) {
        char kept = *at;
        if (kept != '/' && kept != '\0')
            continue;
        *at = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            status = sn_fail(ctx, SN_ERR_WRITE, "cannot make the folder %s: %s", path, strerror(errno));
        *at = kept;
        if (kept == '\0')
            break;
    }
    SN_RELEASE(ctx, path);
    return status;
}

sn_status sn_folder_lock(sn_context *ctx, const char *directory, int *out_lock) {
    *out_lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*out_lock < 0 || flock(*out_lock, LOCK_EX | LOCK_NB) == 0)
        return SN_OK;
    bool taken = errno == EWOULDBLOCK;
    sn_folder_unlock(out_lock);
    return taken ? sn_fail(ctx, SN_ERR_WRITE,
                           "another run is writing into %s: wait for its end, or stop it (Ctrl-C, kill)",
                           directory)
                 : SN_OK;
}

void sn_folder_unlock(int *lock) {
    if (*lock >= 0)
        close(*lock);
    *lock = -1;
}

sn_status sn_folder_remove(sn_context *ctx, const char *directory, const char *name) {
    char *path = NULL;
    sn_status status = sn_path_join(ctx, directory, name, &path);
    if (status == SN_OK && unlink(path) != 0 && errno != ENOENT)
        status = sn_fail(ctx, SN_ERR_WRITE, "cannot remove %s: %s", path, strerror(errno));
    SN_RELEASE(ctx, path);
    return status;
}

sn_status sn_folder_has(sn_context *ctx, const char *directory, const char *name, bool *out_has) {
    char *path = NULL;
    sn_status status = sn_path_join(ctx, directory, name, &path);
    if (status == SN_OK)
        *out_has = access(path, F_OK) == 0;
    SN_RELEASE(ctx, path);
    return status;
}

static sn_status open_folder(sn_context *ctx, const char *directory, DIR **out_folder) {
    *out_folder = opendir(directory);
    if (*out_folder)
        return SN_OK;
    return sn_fail(ctx, SN_ERR_WRITE, "cannot open the folder %s: %s", directory, strerror(errno));
}

sn_status sn_folder_clear(sn_context *ctx, const char *directory, const sn_body_names *bodies,
                          bool overwrite) {
    sn_status status = SN_OK;
    DIR *folder = NULL;
    // First, so that a kill before the end leaves no checkpoint without its files.
    if (overwrite)
        SN_TRY(sn_folder_remove(ctx, directory, SN_CHECKPOINT_FILE));
    SN_TRY(open_folder(ctx, directory, &folder));
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (!kind_of(bodies, entry->d_name).ours)
            continue;
        if (!overwrite)
            SN_TRY(
                sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                        "%s already holds a run (%s): choose another folder, go on with that run (--resume), "
                        "or overwrite it (--overwrite)",
                        directory, entry->d_name));
        SN_TRY(sn_folder_remove(ctx, directory, entry->d_name));
    }
cleanup:
    if (folder)
        closedir(folder);
    return status;
}

sn_status sn_folder_cut(sn_context *ctx, const char *directory, const sn_body_names *bodies,
                        int32_t frame_count) {
    sn_status status = SN_OK;
    DIR *folder = NULL;
    SN_TRY(open_folder(ctx, directory, &folder));
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        file_kind kind = kind_of(bodies, entry->d_name);
        if (kind.ours && (kind.temporary || kind.frame >= frame_count))
            SN_TRY(sn_folder_remove(ctx, directory, entry->d_name));
    }
cleanup:
    if (folder)
        closedir(folder);
    return status;
}
