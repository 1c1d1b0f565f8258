#!/bin/sh
# Looks for inputs that break a reader.
#
#   tests/fuzz/fuzz_run.sh BUILD           configures the preset fuzz in the folder BUILD and builds its programs
#   tests/fuzz/fuzz_run.sh BUILD TARGET    runs one for SINEW_FUZZ_SECONDS (60) from the inputs in corpus/TARGET
#
# New inputs stay in BUILD/corpus/TARGET, so that the next run goes on from there; an input that breaks a promise stays
# in BUILD/found, to be run again with BUILD/bin/fuzz_TARGET FILE. Ends with 77 where clang has no libFuzzer.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1

if [ $# -eq 1 ]; then
    if ! echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long s) { return !d && s; }' |
        clang -fsanitize=fuzzer,address,undefined -x c -o /dev/null - 2>/dev/null; then
        echo "skipped: clang with libFuzzer is missing; script/bootstrap test-all installs it"
        exit 77
    fi
    cmake --preset fuzz -S "$here/../.." -B "$build"
    exec cmake --build "$build" --target fuzz_programs
fi

target=$2
program=$build/bin/fuzz_$target
if [ ! -x "$program" ]; then
    echo "skipped: $program is not built"
    exit 77
fi
mkdir -p "$build/corpus/$target" "$build/found"
dictionary=$here/dictionary/$target.dict
[ ! -f "$dictionary" ] || set -- "$@" "-dict=$dictionary"
shift 2
exec "$program" -max_total_time="${SINEW_FUZZ_SECONDS:-60}" -timeout=30 -rss_limit_mb=2048 -max_len=16384 \
    -print_final_stats=1 -artifact_prefix="$build/found/$target-" "$@" "$build/corpus/$target" "$here/corpus/$target"
