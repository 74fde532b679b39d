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

# tessera_fuzzer(NAME LIBRARY...): the fuzzer of a target, with NAMETarget.cpp. The targets of which JSON is an input are
# named in `json`: values of it are changed, not only bytes.
function(tessera_fuzzer name)
  add_executable(Fuzz${name} ${name}Target.cpp)
  if(name IN_LIST json)
    target_sources(Fuzz${name} PRIVATE ${PROJECT_SOURCE_DIR}/test/Fuzz/JsonMutator.cpp)
  endif()
  target_link_libraries(Fuzz${name} PRIVATE ${ARGN})
  target_link_options(Fuzz${name} PRIVATE -fsanitize=fuzzer)
endfunction()
