//===- PlanFlags.cpp - text to options and back ---------------------------===//

#include "tessera/Options/PlanFlags.h"
#include "tessera/Options/OptimizerDefaults.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>

using namespace tessera;

namespace {

constexpr double kAlmostOne = 0.999999;

constexpr struct {
  const char *suffix;
  double bytes;
} kUnits[] = {{"", 1},         {"B", 1},       {"KB", 1e3},     {"MB", 1e6},
              {"GB", 1e9},     {"TB", 1e12},   {"KiB", 0x1p10}, {"MiB", 0x1p20},
              {"GiB", 0x1p30}, {"TiB", 0x1p40}};

/// Parses "4096", "900MiB", "1.5 GiB", "5GB" (of 1000 MB): bytes, rounded down;
/// nullopt for anything else and for less than a byte.
std::optional<int64_t> parseBytes(const std::string &text) {
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str())
    return std::nullopt;
  while (*end == ' ')
    ++end;
  for (const auto &unit : kUnits) {
    double bytes = number * unit.bytes;
    // The comparisons are also false for NaN.
    if (std::strcmp(end, unit.suffix) == 0 && bytes >= 1 && bytes < 0x1p62)
      return static_cast<int64_t>(bytes);
  }
  return std::nullopt;
}

std::string readSize(const std::string &flag, FlagCheck check,
                     const std::string &text, int64_t &value) {
  bool mayBeZero = check == FlagCheck::SizeOrZero;
  std::optional<int64_t> bytes = parseBytes(text);
  if (mayBeZero && text == "0")
    bytes = 0;
  if (!bytes)
    return flag + " '" + text + "' is no size; write " +
           (mayBeZero ? "0, " : "") +
           "bytes, or a number with KiB, MiB, GiB, TiB (powers of 1024), KB, "
           "MB, GB or TB (of 1000)";
  value = *bytes;
  return "";
}

bool isLegal(FlagCheck check, double value) {
  switch (check) {
  case FlagCheck::Positive:
    return value > 0;
  case FlagCheck::NotNegative:
    return value >= 0;
  case FlagCheck::BelowOne:
    return value >= 0 && value <= kAlmostOne;
  default:
    return true;
  }
}

const char *describe(FlagCheck check) {
  switch (check) {
  case FlagCheck::Positive:
    return "a number above 0";
  case FlagCheck::NotNegative:
    return "a number not below 0";
  case FlagCheck::BelowOne:
    return "a number from 0 to 0.999999";
  default:
    return "a number";
  }
}

std::string refuseNumber(const std::string &flag, FlagCheck check,
                         const std::string &text) {
  return flag + ": must be " + describe(check) + ", but is " + text;
}

/// The whole text as a number, which may be too large or infinite.
std::optional<double> parseNumber(const std::string &text) {
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  return text.empty() || *end ? std::nullopt : std::optional(number);
}

/// Returns the largest whole number that a flag may have.
int64_t mostOf(FlagCheck check) {
  return check == FlagCheck::Any ? std::numeric_limits<int64_t>::max()
                                 : kMostCount;
}

/// Returns "a whole number above 0" and the like, if the text is another
/// number.
std::string refuseInteger(const std::string &flag, FlagCheck check,
                          const std::string &text) {
  std::optional<double> number = parseNumber(text);
  if (!number || !isLegal(check, *number))
    return refuseNumber(flag, check, text);
  return flag + ": must be a whole" + std::string(describe(check)).substr(1) +
         " and at most " + std::to_string(mostOf(check)) + ", but is " + text;
}

} // namespace

std::string tessera::flagName(const char *name) {
  std::string text = std::string("--") + name;
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string tessera::readFlag(const std::string &flag, FlagCheck,
                              const std::string &text, bool &value) {
  if (text != "true" && text != "false")
    return flag + " must be true or false, but is " + text;
  value = text == "true";
  return "";
}

std::string tessera::readFlag(const std::string &flag, FlagCheck check,
                              const std::string &text, int64_t &value) {
  if (check == FlagCheck::Size || check == FlagCheck::SizeOrZero)
    return readSize(flag, check, text, value);
  char *end = nullptr;
  errno = 0;
  int64_t number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || number > mostOf(check) ||
      !isLegal(check, static_cast<double>(number)))
    return refuseInteger(flag, check, text);
  value = number;
  return "";
}

std::string tessera::readFlag(const std::string &flag, FlagCheck check,
                              const std::string &text, int32_t &value) {
  int64_t wide = 0;
  if (std::string why = readFlag(flag, check, text, wide); !why.empty())
    return why;
  value = static_cast<int32_t>(wide);
  if (value == wide)
    return "";
  return flag + ": must be " + describe(check) + " and at most " +
         std::to_string(std::numeric_limits<int32_t>::max()) + ", but is " +
         text;
}

std::string tessera::readFlag(const std::string &flag, FlagCheck check,
                              const std::string &text, double &value) {
  std::optional<double> number = parseNumber(text);
  if (number && !std::isfinite(*number))
    return flag + ": must be a finite number, but is " + text;
  if (!number || !isLegal(check, *number))
    return refuseNumber(flag, check, text);
  value = *number;
  return "";
}

std::string tessera::readFlag(const std::string &, FlagCheck,
                              const std::string &text, std::string &value) {
  value = text;
  return "";
}

std::string tessera::readFlag(const std::string &flag, FlagCheck check,
                              const std::string &text,
                              std::vector<int64_t> &value) {
  value.clear();
  std::istringstream stream(text);
  std::string part;
  while (std::getline(stream, part, ',')) {
    value.push_back(0);
    if (std::string why = readFlag(flag, check, part, value.back());
        !why.empty())
      return why;
  }
  return "";
}

std::string tessera::readFlag(const std::string &flag, FlagCheck,
                              const std::string &text, NamePatterns &value) {
  value.clear();
  std::istringstream stream(text + ",");
  std::string part;
  while (std::getline(stream, part, ',')) {
    if (std::string why = checkPattern(flag, part); !why.empty())
      return why;
    value.emplace_back(part);
  }
  return "";
}

std::string tessera::readFlag(const std::string &, FlagCheck,
                              const std::string &text, MeshShape &value) {
  return value.parse(text);
}

std::string tessera::readFlag(const std::string &, FlagCheck,
                              const std::string &text, LoraOptions &value) {
  return value.parse(text);
}

std::string tessera::readFlag(const std::string &, FlagCheck,
                              const std::string &text, LayerRecompute &value) {
  return value.parse(text);
}

std::string tessera::readFlag(const std::string &flag, FlagCheck,
                              const std::string &text, LayerList &value) {
  return value.parse(flag, text);
}

std::string tessera::readFlag(const std::string &, FlagCheck,
                              const std::string &text, DeviceTarget &value) {
  size_t colon = text.find(':');
  bool hasArch = colon != std::string::npos;
  std::optional<DeviceKind> kind = fromName<DeviceKind>(text.substr(0, colon));
  bool isLegal =
      kind &&
      (!hasArch || (*kind == DeviceKind::Cuda && colon + 1 < text.size()));
  if (!isLegal)
    return "unknown device '" + text + "'; use cpu, cuda or cuda:sm_90";
  value.kind = *kind;
  if (hasArch)
    value.arch = text.substr(colon + 1);
  return "";
}

std::string tessera::flagText(FlagCheck, bool value) {
  return value ? "true" : "false";
}

std::string tessera::flagText(FlagCheck check, int64_t value) {
  std::string text = std::to_string(value);
  if (value == 0 ||
      (check != FlagCheck::Size && check != FlagCheck::SizeOrZero))
    return text;
  for (const auto &unit : kUnits)
    if (value % static_cast<int64_t>(unit.bytes) == 0)
      text = std::to_string(value / static_cast<int64_t>(unit.bytes)) +
             unit.suffix;
  return text;
}

std::string tessera::flagText(FlagCheck, int32_t value) {
  return std::to_string(value);
}

std::string tessera::flagText(FlagCheck, double value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}

std::string tessera::flagText(FlagCheck, const std::string &value) {
  return value;
}

std::string tessera::flagText(FlagCheck, const std::vector<int64_t> &value) {
  std::string text;
  for (int64_t number : value)
    text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

std::string tessera::flagText(FlagCheck, const NamePatterns &value) {
  std::string text;
  for (const NamePattern &pattern : value)
    text += (text.empty() ? "" : ",") + pattern.str();
  return text;
}

std::string tessera::flagText(FlagCheck, const MeshShape &value) {
  return value.str();
}

std::string tessera::flagText(FlagCheck, const LoraOptions &value) {
  return value.str();
}

std::string tessera::flagText(FlagCheck, const LayerRecompute &value) {
  return value.str();
}

std::string tessera::flagText(FlagCheck, const LayerList &value) {
  return value.str();
}

std::string tessera::flagText(FlagCheck, const DeviceTarget &value) {
  std::string kind = nameOf(value.kind);
  bool hasArch = value.isCuda() && value.arch != DeviceTarget().arch;
  return hasArch ? kind + ":" + value.arch : kind;
}

const std::vector<PlanFlag> &tessera::planFlags() {
  static const std::vector<PlanFlag> flags = {
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  {flagName(#NAME), FlagPurpose::PURPOSE, [](const PlanOptions &plan) {        \
     return flagText(FlagCheck::CHECK, plan.FIELD);                            \
   }},
#define DRIVER_FLAG PLAN_FLAG
#define PASS_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
  };
  return flags;
}

GivenFlags tessera::flagsFor(FlagPurpose purpose) {
  GivenFlags flags;
  for (const PlanFlag &flag : planFlags())
    if (flag.purpose == purpose)
      flags.insert(flag.name);
  return flags;
}

GivenFlags tessera::changedFlags(const PlanOptions &plan) {
  // An optimizer's own values and a single micro-batch are no change, whether
  // they are filled in or not.
  PlanOptions changed = plan, standard;
  standard.sizes.microBatches = 1;
  changed.sizes.microBatches = std::max<int64_t>(plan.sizes.microBatches, 1);
  standard.optimizer.kind = plan.optimizer.kind;
  standard.optimizer = completed(standard.optimizer);
  changed.optimizer = completed(plan.optimizer);
  GivenFlags flags;
  for (const PlanFlag &flag : planFlags())
    // A run may replace the learning rate that a program has.
    if (flag.purpose != FlagPurpose::LearningRate &&
        flag.text(changed) != flag.text(standard))
      flags.insert(flag.name);
  if (plan.optimizer.kind != OptimizerOptions().kind)
    flags.insert(flagName("optimizer"));
  return flags;
}

std::string tessera::setFlag(PlanOptions &plan, const std::string &name,
                             const std::string &text) {
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  if (flagName(#NAME) == "--" + name)                                          \
    return readFlag("--" + name, FlagCheck::CHECK, text, plan.FIELD);
#define PASS_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
  return "unknown flag '" + name + "'";
}

/// A flag reads what a plan has, unless it is the default.
template <typename Field>
static std::string checkValue(const std::string &flag, FlagCheck check,
                              const Field &value, const Field &standard) {
  const std::string text = flagText(check, value);
  Field read = standard;
  return text == flagText(check, standard) ? ""
                                           : readFlag(flag, check, text, read);
}

std::string tessera::checkValues(const PlanOptions &plan) {
  const PlanOptions standard;
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  if (std::string why = checkValue(flagName(#NAME), FlagCheck::CHECK,          \
                                   plan.FIELD, standard.FIELD);                \
      !why.empty())                                                            \
    return why;
#define DRIVER_FLAG PLAN_FLAG
#define PASS_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
  return "";
}

//===----------------------------------------------------------------------===//
// Plans that are files
//===----------------------------------------------------------------------===//

/// Returns whether the table says of a text whether it names a file.
template <typename Field> static constexpr bool isClassed(FlagCheck check) {
  return !std::is_same_v<Field, std::string> || check == FlagCheck::Word ||
         namesPath(check);
}

#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  static_assert(isClassed<decltype(PlanOptions().FIELD)>(FlagCheck::CHECK),    \
                "a text must be a Word, a File or a Directory: " #NAME);
#define DRIVER_FLAG PLAN_FLAG
#define PASS_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"

std::optional<FlagCheck> tessera::checkOfFlag(const std::string &name) {
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  if (flagName(#NAME) == "--" + name)                                          \
    return FlagCheck::CHECK;
#define DRIVER_FLAG PLAN_FLAG
#define MESH_ALIAS(AXIS, NAME)                                                 \
  PLAN_FLAG(mesh, NAME, Positive, Compiled, General, "")
#include "tessera/Options/PlanFlags.def"
  return std::nullopt;
}

std::string tessera::refusePlanned(const std::string &name) {
  std::optional<FlagCheck> check = checkOfFlag(name);
  if (!check || !namesPath(*check))
    return "";
  return "option '" + name + "' names a " +
         (*check == FlagCheck::File ? "file" : "directory") +
         "; a plan may not, give it on the command line";
}

std::string tessera::setPlannedFlag(PlanOptions &plan, const std::string &name,
                                    const std::string &text) {
  if (std::string why = refusePlanned(name); !why.empty())
    return why;
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  if (flagName(#NAME) == "--" + name)                                          \
    return readFlag("--" + name, FlagCheck::CHECK, text, plan.FIELD);
#define DRIVER_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
  return "unknown option '" + name + "'";
}
