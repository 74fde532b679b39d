# OneDNN::dnnl, found by hand: the package's own configuration asks for OpenCL's headers, which Debian's does not need.
find_path(ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp DOC "Directory of oneDNN's headers (libdnnl-dev)" REQUIRED)
find_library(ONEDNN_LIBRARY dnnl DOC "oneDNN (libdnnl-dev)" REQUIRED)
mark_as_advanced(ONEDNN_INCLUDE_DIR ONEDNN_LIBRARY)
add_library(OneDNN::dnnl SHARED IMPORTED GLOBAL)
set_target_properties(OneDNN::dnnl PROPERTIES
  IMPORTED_LOCATION "${ONEDNN_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${ONEDNN_INCLUDE_DIR}")
