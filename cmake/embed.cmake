# Turns files into C arrays, so that the installed library needs no data files.
#
# sinew_embed(TARGET FILE SYMBOL...): compiles each FILE into TARGET as `const unsigned char SYMBOL[]` and
# `const size_t SYMBOL_size`. As a script (-D input= -D output= -D symbol=) it writes one such source.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${input} digits HEX)
  string(LENGTH "${digits}" size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" digits "${digits}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," digits "${digits}")
  file(WRITE ${output} "#include <stddef.h>\n"
       "extern const unsigned char ${symbol}[];\nextern const size_t ${symbol}_size;\n"
       "const unsigned char ${symbol}[] = {\n${digits}\n};\nconst size_t ${symbol}_size = ${size};\n")
  return()
endif()

set(SINEW_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(sinew_embed target)
  while(ARGN)
    list(POP_FRONT ARGN input symbol)
    set(output ${CMAKE_BINARY_DIR}/embed/${symbol}.c)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -D input=${input} -D output=${output} -D symbol=${symbol} -P ${SINEW_EMBED_SCRIPT}
      DEPENDS ${input} ${SINEW_EMBED_SCRIPT}
      COMMENT "Embedding ${input}"
      VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endwhile()
endfunction()

# The player's page; three.js comes from the distribution (libjs-three) and is needed at build time only.
find_file(THREE_JS three.min.js PATHS /usr/share/javascript/three REQUIRED)
function(sinew_embed_player target)
  set(folder ${CMAKE_SOURCE_DIR}/src/io/player)
  sinew_embed(${target} ${folder}/player.html sn_asset_player_html ${folder}/player.css sn_asset_player_css
              ${folder}/player.js sn_asset_player_js ${THREE_JS} sn_asset_three_js)
endfunction()
