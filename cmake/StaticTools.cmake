# Copies of the tools for lit, in test/bin of the build: lit starts them 1600 times, and two thirds of a start are the
# dynamic loader's, which relocates libMLIR.so and libLLVM.so. These hold what they use of LLVM's archives. All other
# tests, and what is installed, have the shared libraries. Without lld or the archives lit runs the tools themselves.
find_program(TESSERA_LLD ld.lld HINTS ${LLVM_TOOLS_BINARY_DIR} DOC "LLVM's linker, which links the tools of lit")
find_library(TESSERA_ZSTD NAMES zstd libzstd.so.1 DOC "zstd, which LLVM's archives need")
find_library(TESSERA_ZLIB NAMES z libz.so.1 DOC "zlib, which LLVM's archives need")
file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
if(NOT TESSERA_LLD OR NOT TESSERA_ZSTD OR NOT TESSERA_ZLIB OR NOT archives)
  return()
endif()
get_filename_component(lld_directory ${TESSERA_LLD} DIRECTORY)

foreach(tool tessera tessera-opt)
  add_executable(${tool}-static $<TARGET_OBJECTS:${tool}>)
  get_target_property(libraries ${tool} LINK_LIBRARIES)
  target_link_libraries(${tool}-static PRIVATE ${libraries} ${TESSERA_ZSTD} ${TESSERA_ZLIB})
  # The order of archives is nothing to lld.
  target_link_options(${tool}-static PRIVATE -fuse-ld=lld -B${lld_directory} -no-pie -Wl,--gc-sections -Wl,--strip-all)
  set_target_properties(${tool}-static PROPERTIES TESSERA_LLVM_ARCHIVES "${archives}" LINKER_LANGUAGE CXX
    OUTPUT_NAME ${tool} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bin)
endforeach()
