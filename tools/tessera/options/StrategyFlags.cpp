//===- StrategyFlags.cpp - do the strategies fit the mesh? ----------------===//

#include "tools/tessera/options/StrategyFlags.h"
#include "tessera/Options/MeshAxis.h"

using namespace tessera;

std::vector<CLI::Option *> tessera::addStrategies(CLI::App *sub,
                                                  DriverOptions &options) {
  return {
      sub->add_flag("--sequence-parallel", options.sequenceParallel,
                    "Split activations between blocks over tp"),
      sub->add_option("--context-parallel", options.contextParallel,
                      "Attention over cp: keys and values by all-gather, or "
                      "in a ring; or ulysses (all-to-all of heads)")
          ->capture_default_str(),
      sub->add_option("--zero", options.zero,
                      "Split over dp: 1 optimizer state, 2 also gradients, "
                      "3 also parameters (default: 0, nothing)")
          ->check(CLI::IsMember({0, 1, 2, 3})),
      sub->add_option("--dp-sync", options.dpSync,
                      "How dp sums gradients: all-reduce, parameter-server")
          ->check(CLI::IsMember({"all-reduce", "parameter-server"}))
          ->capture_default_str(),
      sub->add_flag("--layout-invariant{8}", options.layoutInvariant,
                    "The same bits on every mesh of dp and tp: sums are "
                    "trees of so many chunks (default with it: 8)"),
  };
}

static std::string checkServer(const DriverOptions &options, const Mesh &mesh) {
  if (options.dpSync != "parameter-server")
    return "";
  if (mesh.sizeOf(kDataAxis) == 1)
    return "--dp-sync parameter-server gives parameters to ranks of mesh axis "
           "'dp', which has one rank; use a mesh with dp=2 or more, or leave "
           "it out";
  if (options.zero)
    return "--dp-sync parameter-server updates whole parameters, --zero " +
           std::to_string(options.zero) +
           " slices of them; leave one of the two out";
  if (mesh.sizeOf(kPipelineAxis) > 1)
    return "--dp-sync parameter-server is not supported with mesh axis 'pp'; "
           "use --dp-sync all-reduce, or 'tp' and 'cp'";
  return "";
}

std::string tessera::checkStrategies(const DriverOptions &options,
                                     const Mesh &mesh) {
  if (options.sequenceParallel && mesh.sizeOf(kTensorAxis) == 1)
    return "--sequence-parallel splits activations over mesh axis 'tp', which "
           "has one rank; use a mesh with tp=2 or more, or leave it out";
  if (options.contextParallel == "ulysses" && mesh.sizeOf(kContextAxis) == 1)
    return "--context-parallel ulysses exchanges heads over mesh axis 'cp', "
           "which has one rank; use a mesh with cp=2 or more, or leave it out";
  if (options.zero && mesh.sizeOf(kDataAxis) == 1)
    return "--zero splits state over mesh axis 'dp', which has one rank; use a "
           "mesh with dp=2 or more, or leave it out";
  if (std::string why = checkServer(options, mesh); !why.empty())
    return why;
  if (options.contextParallel != "all-gather" &&
      options.contextParallel != "ulysses" && options.contextParallel != "ring")
    return "--context-parallel " + options.contextParallel +
           " is not supported; use all-gather, ulysses or ring";
  if (options.contextParallel == "ring" && mesh.sizeOf(kContextAxis) == 1)
    return "--context-parallel ring passes keys and values along mesh axis "
           "'cp', which has one rank; use a mesh with cp=2 or more, or leave "
           "it out";
  if (options.ranks && mesh.ranks() > options.ranks)
    return "mesh " + mesh.str() + " has " + std::to_string(mesh.ranks()) +
           " ranks, but --ranks allows " + std::to_string(options.ranks) +
           "; use a smaller mesh or raise --ranks";
  return "";
}
