include(CMakeFindDependencyMacro)
find_dependency(Threads) # of Tessera::http
include(${CMAKE_CURRENT_LIST_DIR}/TesseraTargets.cmake)
