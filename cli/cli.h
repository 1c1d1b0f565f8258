/// The frame of the program: commands, options, messages and exit codes. The program is a client of the
/// public headers.
///
/// A command is a constant table: name, usage, options, function. The frame finds commands, prints help from
/// the same tables that drive the parsing, and suggests the nearest name for a mistyped one.
#ifndef SINEW_CLI_H
#define SINEW_CLI_H

#include "sinew/base.h"
#include "sinew/mesh.h"

/// What the program's exit status means: a contract with scripts.
enum {
    CLI_DONE = 0,
    /// Under --strict: stalled, inverted, dropped contacts, budget where a tolerance was asked.
    CLI_STRICT = 1,
    CLI_USAGE = 2,    ///< Usage, scene or mesh error.
    CLI_INTERNAL = 3, ///< A fault of ours, or no memory.
    CLI_WRITE = 4,    ///< Writing failed.
    CLI_INTERRUPTED = 130
};

/// What an option takes and the type of the field that it sets.
typedef enum cli_option_kind {
    CLI_FLAG,   ///< nothing; bool
    CLI_TEXT,   ///< text; const char *
    CLI_INT,    ///< a whole number in [low, high]; int32_t
    CLI_VEC3,   ///< x,y,z, each finite and > 0; double[3]
    CLI_CHOICE, ///< one of `choices`; int32_t, its index
    CLI_LIST    ///< text, may be repeated; cli_list
} cli_option_kind;

typedef struct cli_option {
    const char *name; ///< Without dashes; NULL ends a table.
    char letter;      ///< Short form; 0: none.
    cli_option_kind kind;
    size_t offset;     ///< Of the field in the command's struct of values.
    const char *value; ///< How the help calls the value; NULL for flags.
    const char *help;
    int32_t low, high;          ///< CLI_INT
    const char *const *choices; ///< CLI_CHOICE, ends with NULL.
} cli_option;

enum { CLI_LIST_MAX = 256, CLI_OPERANDS_MAX = 8 };

/// Values of a repeated option, or operands: borrowed from argv.
typedef struct cli_list {
    int32_t count;
    const char *item[CLI_LIST_MAX];
} cli_list;

typedef struct cli_command {
    const char *name;
    const char *usage;                         ///< Behind "sinew ": "mesh info IN".
    const char *summary;                       ///< One line.
    const char *details;                       ///< Further help, whole lines; NULL: none.
    const cli_option *options;                 ///< NULL: none.
    void (*print_more)(void);                  ///< Prints help that the library knows; NULL: none.
    const struct cli_command *const *children; ///< Subcommands, ends with NULL; NULL: none.
    int32_t operand_min, operand_max;
    /// Gets what stands behind the name; returns an exit code. NULL with children.
    int (*run)(int argc, char **argv);
} cli_command;

/// Every command exports its table; main.c lists them.
extern const cli_command cli_run_command;    ///< cli_run.c
extern const cli_command cli_check_command;  ///< cli_check.c
extern const cli_command cli_mesh_command;   ///< cli_mesh.c
extern const cli_command cli_export_command; ///< cli_export.c
extern const cli_command cli_bench_command;  ///< cli_bench.c

/// Reads options into *values (which holds the defaults) and the rest into *operands. "--name value",
/// "--name=value",
/// "-n value"; "--" ends the options. @return CLI_DONE, or CLI_USAGE after a message.
int cli_parse(const cli_command *command, int argc, char **argv, void *values, cli_list *operands);

/// Prints "sinew: message" to stderr and returns `code`.
int cli_fail(int code, const char *format, ...) SN_PRINTF(2, 3);
/// The exit code of a status: CLI_DONE for 0 and positive ones.
int cli_code(sn_status status);
/// Prints the context's message for a failed call and returns its exit code.
int cli_fail_status(const sn_context *context, sn_status status);
/// Prints "sinew: warning: message" to stderr.
void cli_warn(const char *format, ...) SN_PRINTF(1, 2);

/// Makes a context that prints warnings to stderr, unless `quiet`, and its progress too if `verbose`; threads
/// 0: all.
/// @return CLI_DONE, or CLI_INTERNAL after a message.
int cli_context_create(int32_t threads, bool quiet, bool verbose, sn_context **out_context);

/// The name nearest to `word` by edit distance if it is near enough to be meant, else NULL.
const char *cli_nearest(const char *word, int32_t count, const char *const *names);

/// Prints usage, summary, options and subcommands of a command.
void cli_print_help(const cli_command *command);

/// The command of a name, or NULL after a message with the nearest name. `prefix` stands before names in
/// messages: "" or "mesh ".
const cli_command *cli_find(const cli_command *const *commands, const char *prefix, const char *name);

/// Finds argv[0] among `commands` and runs it with the rest; "--help" prints its help.
int cli_dispatch(const cli_command *const *commands, const char *prefix, int argc, char **argv);

/// Prints what is wrong with a mesh, with a hint each, then its facts.
void cli_print_mesh_report(const char *path, const sn_mesh_data *data, const sn_mesh_report *report);

#endif
