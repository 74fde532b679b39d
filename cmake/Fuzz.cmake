# tessera_fuzz_targets(VARIABLE): the names in Targets.def of this folder
function(tessera_fuzz_targets variable)
  file(STRINGS Targets.def lines REGEX "^FUZZ_TARGET")
  list(TRANSFORM lines REPLACE "FUZZ_TARGET\\(([^,]*),.*" "\\1" OUTPUT_VARIABLE targets)
  set(${variable} ${targets} PARENT_SCOPE)
endfunction()

# tessera_fuzz_replay(PROGRAM MUTATIONS TARGET...): ReplayTest.cpp, for the targets of this folder
function(tessera_fuzz_replay program mutations)
  foreach(name ${ARGN})
    # Each has a name of its own, so that one program can hold all.
    set_source_files_properties(${name}Target.cpp PROPERTIES
      COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=fuzz${name})
  endforeach()
  target_compile_definitions(${program} PRIVATE MUTATIONS_PER_TARGET=${mutations}
    FUZZ_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}" FUZZ_TARGETS="${CMAKE_CURRENT_SOURCE_DIR}/Targets.def")
endfunction()
