# Finds LLVM/MLIR 22 and sets what every compiler target needs. Links to libMLIR.so and libLLVM.so, or, where a target
# has the property TESSERA_LLVM_ARCHIVES, to the archives which that lists: the two must never be mixed.
set(MLIR_DIR "/usr/lib/llvm-22/lib/cmake/mlir" CACHE PATH "Directory of MLIRConfig.cmake")
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Tessera needs LLVM/MLIR 22, found ${LLVM_PACKAGE_VERSION}; set MLIR_DIR")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# The flags of the compiler's own sources. Not global: the runtime keeps RTTI and has no LLVM on its path.
add_library(TesseraMLIR INTERFACE)
target_include_directories(TesseraMLIR SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(TesseraMLIR INTERFACE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include ${PROJECT_SOURCE_DIR}/runtime/include)
# TypeIDs of op traits are merged with libMLIR.so's by the linker: they must be visible.
target_compile_options(TesseraMLIR INTERFACE -fvisibility=default -fno-rtti -fno-exceptions -Wall -Wextra -Wno-unused-parameter)
set(archives $<TARGET_PROPERTY:TESSERA_LLVM_ARCHIVES>)
target_link_libraries(TesseraMLIR INTERFACE "$<IF:$<BOOL:${archives}>,${archives},MLIR;LLVM>")
include(${PROJECT_SOURCE_DIR}/cmake/StaticLLVM.cmake)

# MLIR's headers, parsed once: that is nine tenths of compiling a source, half a minute for some.
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON goes without.
add_library(TesseraMLIRHeaders STATIC cmake/MLIRHeaders.cpp)
target_link_libraries(TesseraMLIRHeaders PRIVATE TesseraMLIR)
target_precompile_headers(TesseraMLIRHeaders PRIVATE cmake/MLIRHeaders.h)

# For every target that TesseraMLIR's flags reach.
function(tessera_use_mlir_headers)
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} REUSE_FROM TesseraMLIRHeaders)
  endforeach()
endfunction()

# tessera_add_library(NAME source... [LINK library...] [DEPENDS target...] [SINGLE_SOURCES])
# SINGLE_SOURCES: of a library whose sources have file-level names in common
function(tessera_add_library name)
  cmake_parse_arguments(ARG "SINGLE_SOURCES" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC TesseraMLIR ${ARG_LINK})
  tessera_use_mlir_headers(${name})
  if(NOT ARG_SINGLE_SOURCES)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ${TESSERA_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 8)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
