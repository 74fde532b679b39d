# Most of compiling a source is reading headers and instantiating their templates, so several sources are compiled as
# one. OFF compiles each alone: slower from scratch, faster after a change of one file.
option(TESSERA_UNITY_BUILD "Compile several sources at a time" ON)

# tessera_unity_groups(TARGET PATTERN...): the sources that match a pattern, and no earlier one, are compiled as one.
# To be called where the sources are added. Sources with compile options of their own stay alone.
function(tessera_unity_groups target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(group 0)
  foreach(pattern IN LISTS ARGN)
    set(matching ${sources})
    list(FILTER matching INCLUDE REGEX "${pattern}")
    if(matching)
      set_source_files_properties(${matching} PROPERTIES UNITY_GROUP "${target}_${group}")
      list(REMOVE_ITEM sources ${matching})
    endif()
    math(EXPR group "${group} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TESSERA_UNITY_BUILD} UNITY_BUILD_MODE GROUP)
endfunction()
