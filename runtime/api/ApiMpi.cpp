//===- ApiMpi.cpp - tsr_mpi_* of the C API --------------------------------===//
#include "runtime/api/Api.h"
#include "runtime/collectives/mpi/MpiMeeting.h"
#include "runtime/support/Json.h"

using namespace tessera;

tsr_status tsr_mpi_find(const char **out_file) {
  thread_local std::string file;
  return guarded([&] {
    requirePointer(out_file, "out_file");
    file = chooseMpiPlugin().file;
    *out_file = file.c_str();
  });
}

// When not told otherwise, as for a session.
static constexpr int32_t startTimeMs = 300000;

tsr_status tsr_mpi_start(int32_t world_size, int32_t rank, int32_t timeout_ms,
                         tsr_mpi_member *out_member) {
  return guarded([&] {
    requirePointer(out_member, "out_member");
    if (world_size < 0 || rank < 0 || timeout_ms < 0)
      fail(TSR_INVALID_ARGUMENT, "world_size is ", world_size, ", rank is ",
           rank, " and timeout_ms is ", timeout_ms, ", none may be negative");
    const MpiMembership &mpi = startMpi(
        world_size, rank,
        std::chrono::milliseconds(timeout_ms == 0 ? startTimeMs : timeout_ms));
    out_member->rank = static_cast<int32_t>(mpi.rank);
    out_member->world_size = static_cast<int32_t>(mpi.size);
    out_member->rendezvous = mpi.rendezvous.c_str();
    out_member->secret = mpi.secret.c_str();
    out_member->library = mpi.plugin.table->library();
  });
}

tsr_status tsr_mpi_finish(void) {
  return guarded([] { finishMpi(); });
}

tsr_status tsr_mpi_report(const char **out_json) {
  thread_local std::string text;
  return guarded([&] {
    requirePointer(out_json, "out_json");
    JsonTree tree(JsonTree::Type::object);
    nlohmann::json &plugins = tree.root["plugins"] = JsonTree::Type::array;
    for (const MpiPlugin &plugin : findMpiPlugins()) {
      nlohmann::json &entry = plugins.emplace_back(JsonTree::Type::object);
      entry["file"] = plugin.file;
      entry["family"] = plugin.table ? plugin.table->family : "";
      entry["problem"] = plugin.problem;
    }
    tree.root["command"] = mpiBuildCommand();
    text = tree.root.dump();
    *out_json = text.c_str();
  });
}
