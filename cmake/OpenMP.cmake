# OpenMP::OpenMP_CXX: the OpenMP library that oneDNN uses, which is GCC's. Clang's own would be a second one with settings
# of its own, so with Clang the library is linked, and nothing is compiled with -fopenmp.
if(TARGET OpenMP::OpenMP_CXX)
  return()
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_library(OpenMP::OpenMP_CXX INTERFACE IMPORTED GLOBAL)
  set_target_properties(OpenMP::OpenMP_CXX PROPERTIES INTERFACE_LINK_LIBRARIES gomp)
else()
  find_package(OpenMP REQUIRED COMPONENTS CXX)
endif()
