include(CMakeFindDependencyMacro)
find_dependency(Threads) # needed by Tessera::http
include(${CMAKE_CURRENT_LIST_DIR}/TesseraTargets.cmake)
