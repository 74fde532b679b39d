//===- CoalescedSuite.h - several tensors in one call, and one by one -----===//
// Both must write the same bytes, in order and beside the program.
#ifndef TESSERA_TEST_RUNTIME_CUDA_COALESCEDSUITE_H
#define TESSERA_TEST_RUNTIME_CUDA_COALESCEDSUITE_H

#include "test/Runtime/cuda/GpuWorld.h"

#include <gtest/gtest.h>

namespace gpu {

class CoalescedSuite {
public:
  explicit CoalescedSuite(const char *communicator,
                          Hosts hosts = Hosts::Threads)
      : communicator(communicator), hosts(hosts) {}

  /// Ranks gather their chunks and scatter what they gathered, over each set
  /// of axes; the last steps run as a graph where the device has one.
  void run() const {
    for (int64_t set : {1, 2, 3})
      for (int64_t isAsync : {0, 1})
        compare(set, isAsync);
  }

private:
  struct Member {
    int64_t count, outer, dtype;
  };
  /// One has nothing in it.
  static constexpr Member members[] = {{10, 1, TSR_DTYPE_F32},
                                       {3, 5, TSR_DTYPE_BF16},
                                       {0, 1, TSR_DTYPE_F32},
                                       {2, 2, TSR_DTYPE_F32},
                                       {7, 1, TSR_DTYPE_BF16}};
  static constexpr int64_t most = 256; ///< bytes of a whole member
  static constexpr int64_t region = 8 * most;
  enum Place { Chunks, Wholes, WholesAlone, Sums, SumsAlone, Places };

  static void *at(const Program &p, Place place, size_t member) {
    return p.at(place * region + static_cast<int64_t>(member) * most);
  }

  static int32_t alone(const Program &p, tsr_abi_entry entry, int64_t set,
                       Place from, Place to) {
    for (size_t k = 0; k < std::size(members); ++k)
      if (int32_t code = p.call(entry, {at(p, from, k), at(p, to, k)},
                                {set, members[k].count, members[k].dtype,
                                 TSR_REDUCE_SUM, members[k].outer}))
        return code;
    return 0;
  }

  static int32_t together(const Program &p, tsr_abi_entry entry, int64_t set,
                          int64_t isAsync, Place from, Place to) {
    std::vector<void *> buffers;
    for (Place place : {from, to})
      for (size_t k = 0; k < std::size(members); ++k)
        buffers.push_back(at(p, place, k));
    std::vector<int64_t> args(TSR_COALESCED_SIZES);
    args[TSR_COLLECTIVE_AXES] = set;
    args[TSR_COLLECTIVE_COUNT] = 38;
    args[TSR_COLLECTIVE_OUTER] = 1;
    args[TSR_COLLECTIVE_ASYNC] = isAsync;
    args[TSR_COALESCED_MEMBERS] = std::size(members);
    for (const Member &member : members)
      args.insert(args.end(), {member.count, member.outer, member.dtype});
    if (int32_t code = p.call(entry, buffers, args))
      return code;
    return isAsync ? p.call(p.frame.api->wait, {at(p, to, 0)}, {}) : 0;
  }

  /// Powers of two in bf16, so that f32 are numbers, too.
  static std::vector<uint16_t> chunksOf(int64_t exponent) {
    std::vector<uint16_t> words(region / 2);
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = static_cast<uint16_t>(
          0x3F80 + 0x80 * (exponent + static_cast<int64_t>(i % 5)));
    return words;
  }

  void compare(int64_t set, int64_t isAsync) const {
    WorldOptions options;
    options.axes = {{"dp", 2}, {"tp", 2}};
    options.arenaBytes = Places * region;
    options.communicator = communicator;
    options.hosts = hosts;
    options.body = [=](const Program &p) {
      const tsr_abi_api &api = *p.frame.api;
      for (int32_t code :
           {alone(p, api.all_gather, set, Chunks, WholesAlone),
            together(p, api.all_gather_coalesced, set, isAsync, Chunks, Wholes),
            alone(p, api.reduce_scatter, set, WholesAlone, SumsAlone),
            together(p, api.reduce_scatter_coalesced, set, isAsync, Wholes,
                     Sums)})
        if (code)
          return code;
      return 0;
    };
    World world(options);
    for (int64_t step = 0; step < 4; ++step) {
      for (int64_t rank = 0; rank < 4; ++rank)
        world.write(rank, 0, chunksOf(rank - step));
      tessera::Status status = world.step(step);
      ASSERT_TRUE(status.ok()) << status.message;
      for (int64_t rank = 0; rank < 4; ++rank)
        for (Place place : {Wholes, Sums})
          ASSERT_EQ(world.read<char>(rank, place * region, region),
                    world.read<char>(rank, (place + 1) * region, region))
              << "rank " << rank << " axes " << set << " step " << step;
    }
  }

  const char *communicator;
  Hosts hosts;
};

} // namespace gpu

#endif // TESSERA_TEST_RUNTIME_CUDA_COALESCEDSUITE_H
