include(CMakeFindDependencyMacro)
find_dependency(Threads) # needed by Tessera::http
include(${CMAKE_CURRENT_LIST_DIR}/TesseraTargets.cmake)
# find_package(Tessera COMPONENTS Compiler) fails where only the runtime is installed.
foreach(component IN LISTS Tessera_FIND_COMPONENTS)
  if(TARGET Tessera::${component})
    set(Tessera_${component}_FOUND TRUE)
  elseif(Tessera_FIND_REQUIRED_${component})
    set(Tessera_FOUND FALSE)
    set(Tessera_NOT_FOUND_MESSAGE "This installation of Tessera has no ${component}")
  endif()
endforeach()
