# Compiler settings shared by every target, and one function that declares a library of the project.

add_library(handoff_flags INTERFACE)
target_compile_options(handoff_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wswitch-enum -Wnon-virtual-dtor -Wundef
  # Contraction would make floating-point results depend on the machine the compiler targets.
  -ffp-contract=off
  # Messages of failed checks name files from the repository's root, whatever folder it lies in.
  -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=
  # GCC 12 reports "text" + std::string as an overlapping copy (gcc.gnu.org/PR105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(HANDOFF_WERROR)
  target_compile_options(handoff_flags INTERFACE -Werror)
endif()
if(HANDOFF_SANITIZE)
  target_compile_options(handoff_flags INTERFACE
    -fsanitize=${HANDOFF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(handoff_flags INTERFACE -fsanitize=${HANDOFF_SANITIZE})
endif()
target_include_directories(handoff_flags INTERFACE ${CMAKE_SOURCE_DIR})

find_program(HANDOFF_CCACHE ccache)
if(HANDOFF_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HANDOFF_CCACHE})
endif()
find_program(HANDOFF_MOLD mold)
if(HANDOFF_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# handoff_library(NAME SOURCES a.cpp b.cpp [PUBLIC lib ...] [PRIVATE lib ...])
function(handoff_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC handoff_flags ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()
