# The programs that are installed hold what they use of LLVM's archives. With the shared libraries, three quarters of a
# start are the dynamic loader's, which relocates libMLIR.so and libLLVM.so, and an installation needs both. Tests other
# than lit's link the shared libraries: they are many, and each would hold a copy.
option(TESSERA_STATIC_LLVM "Link the programs with LLVM's archives; OFF: with its shared libraries" ON)
if(NOT TESSERA_STATIC_LLVM)
  function(tessera_static_llvm)
  endfunction()
  return()
endif()

find_program(TESSERA_LLD ld.lld HINTS ${LLVM_TOOLS_BINARY_DIR} DOC "LLVM's linker, which links the programs")
find_library(TESSERA_ZSTD NAMES zstd libzstd.so.1 DOC "zstd, which LLVM's archives need")
find_library(TESSERA_ZLIB NAMES z libz.so.1 DOC "zlib, which LLVM's archives need")
file(GLOB TESSERA_ARCHIVES ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
foreach(part TESSERA_LLD TESSERA_ZSTD TESSERA_ZLIB TESSERA_ARCHIVES)
  if(NOT ${part})
    message(FATAL_ERROR "Linking LLVM statically needs ${part}, and ${LLVM_LIBRARY_DIR} or the system lacks it; run "
      "tools/scripts/setup.sh, or set TESSERA_STATIC_LLVM to OFF")
  endif()
endforeach()

# tessera_static_llvm(PROGRAM...)
function(tessera_static_llvm)
  get_filename_component(directory ${TESSERA_LLD} DIRECTORY)
  foreach(program IN LISTS ARGN)
    target_link_libraries(${program} PRIVATE ${TESSERA_ZSTD} ${TESSERA_ZLIB})
    # ld.lld takes archives in any order, in a second. Packed relocations of vtables are 2 MB less in each program.
    target_link_options(${program} PRIVATE
      -fuse-ld=lld -B${directory} -Wl,--gc-sections -Wl,-z,pack-relative-relocs)
    set_target_properties(${program} PROPERTIES TESSERA_LLVM_ARCHIVES "${TESSERA_ARCHIVES}")
  endforeach()
endfunction()
