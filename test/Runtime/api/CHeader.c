/* CHeader.c - the headers are C11, and a C program can use the library. */
#include "tessera/abi.h"
#include "tessera/encoder.h"
#include "tessera/tessera.h"

int tessera_c_calls(void);
int tessera_c_calls(void) {
  tsr_artifact *artifact = 0;
  tsr_status status = tsr_artifact_load("/nonexistent/model.tsr", &artifact);
  tsr_session_destroy(0);
  tsr_data_destroy(0);
  tsr_encoder_destroy(0);
  return status == TSR_NOT_FOUND && artifact == 0 &&
         tsr_last_error()[0] != '\0' && tsr_version()[0] != '\0';
}
