// Trains a step of an artifact through the C++ wrapper: embed model.tsr.
#include <cstdio>
#include <tessera/tessera.hpp>

int main(int, char **argv) {
  tessera::Artifact artifact(argv[1]);
  tessera::Session session(artifact);
  session.init();
  std::vector<std::int32_t> tokens(artifact.batch() * artifact.columns(), 1);
  std::printf("step %lld of %s\n",
              static_cast<long long>(session.step(tokens).step), tsr_version());
}
