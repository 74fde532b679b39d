//===- SameFilesTest.cpp - a stale file on one host -----------------------===//
// Every process has a folder of its own, as hosts have disks of their own.
//===----------------------------------------------------------------------===//
#include "test/Runtime/checkpoint/WeightFiles.h"
#include "test/Runtime/session/Processes.h"

#include <filesystem>

using namespace fixture;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr int ranks = 4, stale = 2;

/// Folders with the same files, but for the one that a test changes.
class SameFiles : public testing::Test {
protected:
  SameFiles() {
    for (int rank = 0; rank < ranks; ++rank)
      fs::create_directory(of(rank));
  }

  std::string of(int rank, const std::string &name = "") const {
    return directory / ("host" + std::to_string(rank)) +
           (name.empty() ? "" : "/" + name);
  }
  void write(const std::string &name, const std::string &content) {
    for (int rank = 0; rank < ranks; ++rank)
      writeFile(of(rank, name), content);
  }

  /// Checks that all processes refuse `call` while the stale one has `content`,
  /// and that their sessions go on as they were.
  template <class Call>
  void expectRefused(const std::string &name, const std::string &content,
                     const Call &call) {
    ASSERT_NE(readFile(of(stale, name)), content);
    writeFile(of(stale, name), content);
    onProcesses({}, [&](Training &training, int rank) {
      std::vector<double> before = training.state();
      EXPECT_EQ(call(training.session, rank), TSR_MISMATCH);
      std::string message = tsr_last_error();
      EXPECT_CONTAINS(message, "rank 2 reads '" + of(stale, name) + "' of ");
      EXPECT_CONTAINS(message, ", but rank 0 reads '" + of(0, name) + "' of ");
      EXPECT_CONTAINS(message, "; all processes must read the same: copy the "
                               "right file to each host");
      size_t first = message.find("(hash "), second = message.rfind("(hash ");
      EXPECT_NE(message.substr(first, 22), message.substr(second, 22));
      EXPECT_EQ(training.state(), before);
      EXPECT_EQ(training.step(0), TSR_OK) << tsr_last_error();
    });
  }
  /// Checks that all processes accept `call` while their files are the same.
  template <class Call> void expectTaken(const Call &call) {
    onProcesses({}, [&](Training &training, int rank) {
      EXPECT_EQ(call(training.session, rank), TSR_OK) << tsr_last_error();
    });
  }

  TemporaryDirectory directory;
};

TEST_F(SameFiles, Weights) {
  write("model.safetensors", safetensorsOf({weight("w"), bias}));
  auto load = [&](tsr_session *session, int rank) {
    return tsr_session_load_weights(session, of(rank).c_str());
  };
  expectTaken(load);
  expectRefused("model.safetensors",
                safetensorsOf({weight("w"), number("transformer.bias", 3)}),
                load);
}

TEST_F(SameFiles, ShardsAndTheirIndex) {
  write("a.safetensors", safetensorsOf({weight("w")}));
  write("b.safetensors", safetensorsOf({bias}));
  json map = {{"w", "a.safetensors"}, {"transformer.bias", "b.safetensors"}};
  const std::string index = "model.safetensors.index.json";
  write(index, json{{"weight_map", map}}.dump());
  auto load = [&](tsr_session *session, int rank) {
    return tsr_session_load_weights(session, of(rank).c_str());
  };
  expectTaken(load);
  expectRefused("b.safetensors", safetensorsOf({number("transformer.bias", 3)}),
                load);
  write("b.safetensors", safetensorsOf({bias}));
  expectRefused(index, json{{"weight_map", map}}.dump(2), load);
}

/// A folder that has both is read in another way than one that lacks one.
TEST_F(SameFiles, OneFileIsNoIndex) {
  write("a.safetensors", safetensorsOf({weight("w"), bias}));
  json map = {{"w", "a.safetensors"}, {"transformer.bias", "a.safetensors"}};
  write("model.safetensors.index.json", json{{"weight_map", map}}.dump());
  writeFile(of(stale, "model.safetensors"),
            safetensorsOf({weight("w"), number("transformer.bias", 3)}));
  onProcesses({}, [&](Training &training, int rank) {
    EXPECT_EQ(tsr_session_load_weights(training.session, of(rank).c_str()),
              TSR_MISMATCH);
    EXPECT_CONTAINS(tsr_last_error(),
                    "rank 2 reads '" + of(stale, "model.safetensors"));
  });
}

TEST_F(SameFiles, MissingOnOneIsToldByAll) {
  write("model.safetensors", safetensorsOf({weight("w"), bias}));
  fs::remove(of(stale, "model.safetensors"));
  onProcesses({}, [&](Training &training, int rank) {
    EXPECT_EQ(tsr_session_load_weights(training.session, of(rank).c_str()),
              TSR_NOT_FOUND);
    EXPECT_CONTAINS(tsr_last_error(), of(stale) + "' holds neither");
  });
}

/// Another run came to the same step.
TEST_F(SameFiles, Checkpoints) {
  for (int rank = 0; rank < ranks; ++rank) {
    Training one(2, 2);
    ASSERT_EQ(one.step(rank == stale ? 1 : 0), TSR_OK);
    ASSERT_EQ(tsr_session_save(one.session, of(rank).c_str()), TSR_OK);
  }
  onProcesses({}, [&](Training &training, int rank) {
    std::vector<double> before = training.state();
    EXPECT_EQ(tsr_session_load(training.session, of(rank).c_str()),
              TSR_MISMATCH);
    EXPECT_CONTAINS(tsr_last_error(),
                    "rank 2 reads '" +
                        of(stale, "step-00000001/model.safetensors") + "' of ");
    EXPECT_EQ(training.state(), before);
  });
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// Opens `name` of a process's folder, and destroys it.
class OpenedData {
public:
  explicit OpenedData(const std::string &path, double fraction = 0) {
    tsr_data_options options = {};
    options.size = sizeof options;
    options.sequence = 4;
    options.vocabulary = 256;
    options.validation_fraction = fraction;
    const char *name = path.c_str();
    EXPECT_EQ(tsr_data_open(&name, 1, &options, &data), TSR_OK)
        << tsr_last_error();
  }
  ~OpenedData() { tsr_data_destroy(data); }

  tsr_data *data = nullptr;
};

/// Makes a text that is longer than the ends that opening a file reads.
std::string longText(char middle) {
  std::string text(300'000, 'a');
  text[150'000] = middle;
  return text;
}

TEST_F(SameFiles, DataWhereverItDiffers) {
  write("d.txt", longText('a'));
  auto use = [&](tsr_session *session, int rank) {
    return tsr_session_use_data(session, OpenedData(of(rank, "d.txt")).data);
  };
  auto compare = [&](tsr_session *session, int rank) {
    OpenedData opened(of(rank, "d.txt"));
    return tsr_session_compare_data(session, opened.data);
  };
  auto change = [&](tsr_session *session, int rank) {
    OpenedData opened(of(rank, "d.txt"));
    return tsr_session_change_data(session, opened.data);
  };
  expectTaken(use);
  expectTaken(compare);
  expectRefused("d.txt", longText('b'), use);
  write("d.txt", longText('a'));
  expectRefused("d.txt", longText('b'), compare);
  write("d.txt", longText('a'));
  expectRefused("d.txt", longText('b'), change);
}

/// Makes the Megatron index of 8 bytes in two documents, of which the first has
/// `first`.
std::string indexOf(int32_t first) {
  return std::string("MMIDIDX\0\0", 9) + bytesOf<uint64_t>({1}) + '\1' +
         bytesOf<uint64_t>({2, 3}) + bytesOf<int32_t>({first, 8 - first}) +
         bytesOf<int64_t>({0, first}) + bytesOf<int64_t>({0, 1, 2});
}

TEST_F(SameFiles, WhereDocumentsBegin) {
  write("d.bin", "abcdefgh");
  write("d.idx", indexOf(4));
  writeFile(of(stale, "d.idx"), indexOf(3));
  onProcesses({}, [&](Training &training, int rank) {
    OpenedData opened(of(rank, "d.bin"));
    EXPECT_EQ(tsr_session_use_data(training.session, opened.data),
              TSR_MISMATCH);
    EXPECT_CONTAINS(tsr_last_error(),
                    "rank 2 reads '" + of(stale, "d.bin") + "' of 8 tokens");
    EXPECT_CONTAINS(tsr_last_error(), "an index of 2 documents (hash ");
  });
}

TEST_F(SameFiles, PartsOfData) {
  write("d.txt", std::string(100, 'a'));
  onProcesses({}, [&](Training &training, int rank) {
    OpenedData opened(of(rank, "d.txt"), rank == stale ? 0.2 : 0.1);
    EXPECT_EQ(tsr_session_use_data(training.session, opened.data),
              TSR_MISMATCH);
    EXPECT_CONTAINS(tsr_last_error(), "of which tokens 0 to 80 are read");
    EXPECT_CONTAINS(tsr_last_error(), "of which tokens 0 to 90 are read");
  });
}

//===----------------------------------------------------------------------===//
// Other files
//===----------------------------------------------------------------------===//

TEST_F(SameFiles, AnyFile) {
  write("questions", std::string(3 << 20, 'q'));
  auto compare = [&](tsr_session *session, int rank) {
    std::string path = of(rank, "questions");
    const char *name = path.c_str();
    return tsr_session_compare_files(session, &name, 1);
  };
  expectTaken(compare);
  std::string other(3 << 20, 'q');
  other[2 << 20] = 'r';
  expectRefused("questions", other, compare);
  fs::remove(of(stale, "questions"));
  onProcesses({}, [&](Training &training, int rank) {
    EXPECT_EQ(compare(training.session, rank), TSR_NOT_FOUND);
    EXPECT_CONTAINS(tsr_last_error(), of(stale, "questions"));
  });
}

TEST_F(SameFiles, AsManyFiles) {
  write("a", "a");
  onProcesses({}, [&](Training &training, int rank) {
    std::string path = of(rank, "a");
    const char *names[] = {path.c_str(), path.c_str()};
    EXPECT_EQ(tsr_session_compare_files(training.session, names,
                                        rank == stale ? 2 : 1),
              TSR_MISMATCH);
    EXPECT_CONTAINS(tsr_last_error(), "rank 2 reads 2 files (first '" +
                                          of(stale, "a") +
                                          "'), but rank 0 reads 1");
  });
}

/// The plan is the same, but the code ends in one more byte, which no loader
/// reads.
TEST_F(SameFiles, CodeOfOneProcessor) {
  std::string metadata = metadataOf(2, 2).dump(), code = codeOf(2, 2);
  write("model.tsr", artifactOf(metadata, code));
  writeFile(of(stale, "model.tsr"), artifactOf(metadata, code + '\0'));
  std::string rendezvous = freeRendezvous();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      tsr_artifact *artifact = nullptr;
      ASSERT_EQ(tsr_artifact_load(of(rank, "model.tsr").c_str(), &artifact),
                TSR_OK)
          << tsr_last_error();
      tsr_session_options options = {};
      options.size = sizeof options;
      options.world_size = ranks;
      options.rank = rank;
      options.rendezvous = rendezvous.c_str();
      tsr_session *session = nullptr;
      EXPECT_EQ(tsr_session_create(artifact, &options, &session), TSR_MISMATCH);
      EXPECT_CONTAINS(tsr_last_error(),
                      "rank 2 runs an artifact with the hash");
      tsr_session_destroy(session);
      tsr_artifact_destroy(artifact);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(SameFilesOfOneProcess, AreNotRead) {
  Training training(2, 2);
  const char *name = "no such file";
  EXPECT_EQ(tsr_session_compare_files(training.session, &name, 1), TSR_OK);
}

} // namespace
