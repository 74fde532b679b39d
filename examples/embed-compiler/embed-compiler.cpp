// Plans, verifies and compiles a model from C++:
//   tessera calibrate --quick -o machine.toml
//   embed-compiler examples/gpt2-tiny machine.toml model.tsr batch=8
// Each word behind the artifact sets an option of tessera compile.
#include <cstdio>
#include <exception>
#include <string>
#include <tessera/compiler.hpp>

static void say(const std::string &line) {
  std::fprintf(stderr, "%s\n", line.c_str());
}

static void run(int argc, char **argv) {
  tessera::Compiler compiler(argv[1]);
  compiler.listen(say);
  for (int i = 4; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t end = word.find('=');
    compiler.set(word.substr(0, end),
                 end == std::string::npos ? "true" : word.substr(end + 1));
  }

  // The best plan becomes the compiler's; options that were set stay.
  tessera::PlanSearch search;
  search.cluster = argv[2];
  search.devices = 2;
  search.evaluations = 8;
  compiler.findPlan(search);
  compiler.savePlan(std::string(argv[3]) + ".plan.json");

  const tessera::Verification verification = compiler.verify();
  std::printf("%s\n", verification.json.c_str());
  if (!verification.isVerified)
    throw std::runtime_error("the distributed program is not the serial one");

  compiler.compile(argv[3]);
  const tessera::Artifact artifact(argv[3]);
  std::printf("wrote %s for %lld ranks\n", argv[3],
              static_cast<long long>(artifact.ranks()));
}

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: embed-compiler MODEL CLUSTER ARTIFACT "
                         "[OPTION=VALUE]...\n");
    return 2;
  }
  try {
    run(argc, argv);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
