/* Trains three steps of a compiled model from C:
 *   tessera compile config.json --mesh dp=2,tp=2 -o model.tsr
 *   embed model.tsr text-file
 * The ranks are threads of this process. */
#include <stdio.h>
#include <stdlib.h>
#include <tessera/tessera.h>

static void check(tsr_status status) {
  if (status == TSR_OK)
    return;
  fprintf(stderr, "%s: %s\n", tsr_status_name(status), tsr_last_error());
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: embed model.tsr text-file\n");
    return 2;
  }
  tsr_artifact *artifact = NULL;
  tsr_session *session = NULL;
  tsr_data *data = NULL;
  check(tsr_artifact_load(argv[1], &artifact));
  check(tsr_session_create(artifact, NULL, &session));
  check(tsr_session_init(session));

  int64_t batch = tsr_artifact_batch(artifact);
  int64_t sequence = tsr_artifact_sequence(artifact);
  tsr_data_options options = {.size = sizeof options,
                              .format = "text",
                              .sequence = sequence,
                              .vocabulary = tsr_artifact_vocabulary(artifact)};
  check(tsr_data_open((const char *const *)&argv[2], 1, &options, &data));

  size_t count = (size_t)(batch * (sequence + 1));
  int32_t *tokens = malloc(count * sizeof *tokens);
  printf("%lld ranks\n", (long long)tsr_artifact_ranks(artifact));
  for (int64_t step = 0; step < 3; ++step) {
    tsr_step_result result;
    check(tsr_data_batch(data, step, batch, tokens));
    check(tsr_session_step(session, tokens, count, &result));
    printf("step %lld loss %.4f\n", (long long)result.step, result.loss);
  }
  free(tokens);
  tsr_data_destroy(data);
  tsr_session_destroy(session);
  tsr_artifact_destroy(artifact);
  return 0;
}
