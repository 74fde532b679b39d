//===- PlanFlags.h - text to options and back -------------------*- C++ -*-===//
// Checks and reads the values of PlanFlags.def's flags, for every user of the
// table. It needs no MLIR.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_PLANFLAGS_H
#define TESSERA_OPTIONS_PLANFLAGS_H

#include "tessera/Options/PlanOptions.h"
#include <optional>
#include <set>
#include <type_traits>

namespace tessera {

enum class FlagCheck {
  Any,         ///< Whatever the type accepts.
  Positive,    ///< A number above 0.
  NotNegative, ///< A number not below 0.
  BelowOne,    ///< A number from 0 to 0.999999.
  Size,        ///< "900MiB": bytes, at least one.
  SizeOrZero,
  Word,     ///< A text that names no file.
  File,     ///< The name of a file that is written.
  Directory ///< The name of a directory.
};

/// Returns whether a flag names a file or a directory. Its user alone gives
/// such a flag: a plan that is a file, or a page, may not.
constexpr bool namesPath(FlagCheck check) {
  return check == FlagCheck::File || check == FlagCheck::Directory;
}

/// Says what a flag is about. A plan without it would ignore the flag, which
/// PlanRules refuses.
enum class FlagPurpose {
  General,       ///< Every program, or what a rule of its own knows.
  Sequences,     ///< The batch of programs that train or encode.
  Decoder,       ///< The targets of an encoder-decoder model.
  Loss,          ///< Labels that count.
  Masks,         ///< Tokens of a batch that attention does not see.
  Documents,     ///< Texts of causal models that share a sequence.
  Evaluation,    ///< The program that measures the loss.
  Parameters,    ///< The parameters that are trained.
  Step,          ///< The split and the order of a training step.
  Recomputation, ///< Values that backward computes again.
  Gradients,     ///< The sums of gradients over ranks.
  Optimizer,
  LearningRate,
  Generation,    ///< Programs that continue texts.
  RequestLength, ///< The length of a request, if it is not a sequence's.
  Encoding,      ///< The program that encodes texts.
  Inference,     ///< Programs without a training step.
  SequenceSplit, ///< Attention over mesh axis `cp`, where it splits sequences.
  Stages,        ///< Mesh axis `pp`.
  Cuda           ///< Code for GPUs.
};

/// A count has at most this value, so that sums of counts do not overflow.
inline constexpr int64_t kMostCount = int64_t(1) << 48;

/// Returns a flag as users write it: "--seq-length" of seq_length.
std::string flagName(const char *name);

/// Reads what a flag is given. Returns what is wrong with it, or "".
std::string readFlag(const std::string &flag, FlagCheck check,
                     const std::string &text, bool &value);
std::string readFlag(const std::string &flag, FlagCheck check,
                     const std::string &text, int64_t &value);
std::string readFlag(const std::string &flag, FlagCheck check,
                     const std::string &text, int32_t &value);
std::string readFlag(const std::string &flag, FlagCheck check,
                     const std::string &text, double &value);
std::string readFlag(const std::string &flag, FlagCheck check,
                     const std::string &text, std::string &value);
/// Numbers with commas between them.
std::string readFlag(const std::string &flag, FlagCheck check,
                     const std::string &text, std::vector<int64_t> &value);
/// Patterns with commas between them.
std::string readFlag(const std::string &flag, FlagCheck check,
                     const std::string &text, NamePatterns &value);
std::string readFlag(const std::string &flag, FlagCheck check,
                     const std::string &text, MeshShape &value);
std::string readFlag(const std::string &flag, FlagCheck check,
                     const std::string &text, LoraOptions &value);
std::string readFlag(const std::string &flag, FlagCheck check,
                     const std::string &text, LayerRecompute &value);
std::string readFlag(const std::string &flag, FlagCheck check,
                     const std::string &text, LayerList &value);
std::string readFlag(const std::string &flag, FlagCheck check,
                     const std::string &text, DeviceTarget &value);
template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>>
std::string readFlag(const std::string &flag, FlagCheck,
                     const std::string &text, Enum &value) {
  std::optional<Enum> known = fromName<Enum>(text);
  if (!known)
    return flag + " " + text + " is not supported; use " + listNames<Enum>();
  value = *known;
  return "";
}

/// A value as readFlag takes it.
std::string flagText(FlagCheck check, bool value);
std::string flagText(FlagCheck check, int64_t value);
std::string flagText(FlagCheck check, int32_t value);
std::string flagText(FlagCheck check, double value);
std::string flagText(FlagCheck check, const std::string &value);
std::string flagText(FlagCheck check, const std::vector<int64_t> &value);
std::string flagText(FlagCheck check, const NamePatterns &value);
std::string flagText(FlagCheck check, const MeshShape &value);
std::string flagText(FlagCheck check, const LoraOptions &value);
std::string flagText(FlagCheck check, const LayerRecompute &value);
std::string flagText(FlagCheck check, const LayerList &value);
std::string flagText(FlagCheck check, const DeviceTarget &value);
template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>>
std::string flagText(FlagCheck, Enum value) {
  return nameOf(value);
}

/// Names of flags as users write them: "--zero".
using GivenFlags = std::set<std::string>;

/// A row of the table that users see: a flag of the driver or of pipelines.
struct PlanFlag {
  std::string name;
  FlagPurpose purpose;
  std::string (*text)(const PlanOptions &plan); ///< The value in a plan.
};

/// Returns all flags in the order of the table.
const std::vector<PlanFlag> &planFlags();

/// Returns the flags of a purpose.
GivenFlags flagsFor(FlagPurpose purpose);

/// Returns the flags whose values in `plan` nobody has by default. A flag that
/// is given its default is not among them.
GivenFlags changedFlags(const PlanOptions &plan);

/// Sets the option of a flag, "zero" or "layout-invariant", that a pipeline
/// has. Returns what is wrong, or "".
std::string setFlag(PlanOptions &plan, const std::string &name,
                    const std::string &text);

/// Returns why the flag of a value would not take it, or "". The values that
/// nobody gives are legal: 0 where the model has a size of its own.
std::string checkValues(const PlanOptions &plan);

/// Returns the check of a flag of the driver, "zero", or nothing.
std::optional<FlagCheck> checkOfFlag(const std::string &name);

/// Sets what a plan that is a file says of a flag of the driver. Returns what
/// is wrong, or "". A flag that names a path is refused.
std::string setPlannedFlag(PlanOptions &plan, const std::string &name,
                           const std::string &text);

/// Returns why a plan that is a file may not have the option "zero", or "". It
/// knows no flags but those of the table.
std::string refusePlanned(const std::string &name);

} // namespace tessera

#endif // TESSERA_OPTIONS_PLANFLAGS_H
