# Flags of every target. -ffp-contract=fast: -std=c17 alone turns fused multiply-add off in gcc. No -ffast-math: NaN
# checks must work and sums must keep their order.
add_library(sinew_flags INTERFACE)
target_compile_options(sinew_flags INTERFACE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
                                             -ffp-contract=fast -fno-math-errno -fno-trapping-math)
if(SINEW_WERROR)
  target_compile_options(sinew_flags INTERFACE -Werror)
endif()
# With sanitizers our own assertions are on, whatever the build type says.
if(SINEW_SANITIZE)
  target_compile_options(sinew_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                               -fno-omit-frame-pointer -UNDEBUG)
  target_compile_definitions(sinew_flags INTERFACE SN_NO_CLONES)
  target_link_options(sinew_flags INTERFACE -fsanitize=address,undefined)
endif()

# The sweeps' kernels take minutes each to compile with all checks. They are one source for three instruction sets: the
# plain one keeps all checks, the others those of addresses. Fuzzed readers never sweep.
function(sinew_lighten_sweeps)
  set(kernels avx2 avx512)
  set(without undefined)
  if(SINEW_FUZZ)
    list(APPEND kernels plain)
    set(without address,undefined)
  endif()
  list(TRANSFORM kernels REPLACE ".+" "${CMAKE_SOURCE_DIR}/src/factor/factor_sweep_\\0.c")
  if(SINEW_SANITIZE)
    set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS -fno-sanitize=${without})
  endif()
endfunction()
