//===- NumericVerdict.cpp - what is said of runs --------------------------===//

#include "lib/Verify/NumericVerdict.h"
#include "tessera/Options/Counted.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tessera;

/// Says what f64 decided.
static std::string judgedText(const NumericCheck &check) {
  if (!check.judgedTrials)
    return "";
  std::string where =
      check.judgedElements
          ? llvm::formatv("{0} elements where a value jumps or overflows",
                          check.judgedElements)
                .str()
          : "a value that jumps";
  return llvm::formatv("; f64 judged {0}, in {1} earlier trials", where,
                       check.judgedTrials);
}

std::string tessera::worstText(const NumericCheck &check) {
  return check.worstName.empty() ? "" : " (" + check.worstName + ")";
}

Verdict tessera::numericVerdict(const PlannedModel &model, Precision precision,
                                const NumericCheck &check,
                                const std::string &compared) {
  return {nameOf(precision),
          llvm::formatv("{0} over {1}, largest difference {2:e1}{3}{4}{5}",
                        compared, counted(check.steps, "step"), check.worst,
                        worstText(check), judgedText(check) + check.note,
                        model.isProgram()
                            ? "; at full size: only a config can be shrunk"
                            : ""),
          check.difference};
}

std::string tessera::wholeText(const Formulation &formulas) {
  return formulas.whole.empty()
             ? ""
             : "; not " + llvm::join(formulas.whole, ", not ");
}
