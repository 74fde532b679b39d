#include "test/Runtime/collectives/Strangers.h"

using namespace tessera;

namespace fixture {

Deadline soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(300);
}

OperatorNote Notes::taker() {
  return [this](const std::string &note) {
    std::lock_guard<std::mutex> lock(mutex);
    text += note + "\n";
  };
}

std::string Notes::all() const {
  std::lock_guard<std::mutex> lock(mutex);
  return text;
}

Socket stranger(const std::string &at, const std::string &bytes) {
  Socket socket = connectTo(parseAddress(at), "rank 0", soon());
  sendAll(socket, bytes.data(), bytes.size(), soon());
  return socket;
}

Socket acquaintance(const std::string &at, const std::string &secret) {
  Socket socket = connectTo(parseAddress(at), "rank 0", soon());
  introduce(socket, Secret(secret), "rank 0", soon());
  return socket;
}

std::string heardUntilClosed(const Socket &socket) {
  std::string heard;
  try {
    for (char byte;; heard += byte)
      receiveAll(socket, &byte, 1, soon());
  } catch (const Error &error) {
    EXPECT_EQ(error.status.code, TSR_IO) << error.status.message;
  }
  return heard;
}

std::string withLength(const std::string &message) {
  auto bytes = static_cast<uint32_t>(message.size());
  return std::string(reinterpret_cast<const char *>(&bytes), sizeof bytes) +
         message;
}

std::string helloOf(int64_t rank, int64_t world) {
  return writeHello({TESSERA_VERSION, rank, world, 4000, "machine", {}});
}

std::string helloWith(const std::string &name, const nlohmann::json &value) {
  nlohmann::json hello = nlohmann::json::parse(helloOf(1, 2));
  hello[name] = value;
  return hello.dump();
}

Status joinAs(const ProcessOptions &options, const Agreement &agreement) {
  try {
    joinProcesses(options, agreement);
    return {};
  } catch (...) {
    return currentStatus();
  }
}

std::vector<Status> joinAll(const std::vector<ProcessOptions> &options,
                            const std::vector<Agreement> &agreements) {
  std::vector<Status> results(options.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < options.size(); ++i)
    threads.emplace_back([&, i] {
      results[i] =
          joinAs(options[i], agreements.empty() ? Agreement{} : agreements[i]);
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

} // namespace fixture
