//===- AttributeRules.h - what discardable attributes may be ----*- C++ -*-===//
// Each dialect has one table of its discardable attributes: where an attribute
// may stand and what its value must be. The dialect's verifiers follow from it,
// so passes may read the attributes without checks of their own.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_DIST_ATTRIBUTERULES_H
#define TESSERA_DIALECT_DIST_ATTRIBUTERULES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace tessera::dist {

/// The places where an attribute stands, as flags. A function is no op here.
enum Place : unsigned {
  OnModule = 1,
  OnFunction = 2,
  OnOp = 4,
  OnArgument = 8,
  OnResult = 16
};

/// One attribute of a module, a function or another op, or of an argument or
/// result of a function.
struct AttributeSite {
  mlir::Operation *op = nullptr;
  Place place = OnOp;
  unsigned index = 0; ///< The number of the argument or result.
  mlir::Type type;    ///< The type of the argument or result, else null.
};

/// A property of values, and the words for it after "it must be".
struct Requirement {
  bool (*holds)(const AttributeSite &site, mlir::Attribute value);
  llvm::StringLiteral words;
};

/// One row of a dialect's table.
struct AttributeRule {
  llvm::StringRef name;
  unsigned places; ///< A union of Place.
  Requirement requirement;
  /// A further check with errors of its own; null if there is none.
  llvm::LogicalResult (*verify)(mlir::Operation *op,
                                mlir::NamedAttribute attribute) = nullptr;
};

/// Emits an error unless a rule has the attribute's name and it obeys the rule.
llvm::LogicalResult verifyByRules(llvm::ArrayRef<AttributeRule> rules,
                                  const AttributeSite &site,
                                  mlir::NamedAttribute attribute);

/// Returns the site of an attribute of an op itself, or of an argument or
/// result of a function.
AttributeSite siteOf(mlir::Operation *op);
AttributeSite siteOfArgument(mlir::Operation *op, unsigned index);
AttributeSite siteOfResult(mlir::Operation *op, unsigned index);

//===----------------------------------------------------------------------===//
// Requirements that several attributes share
//===----------------------------------------------------------------------===//

bool isName(const AttributeSite &site, mlir::Attribute value);
bool isUnit(const AttributeSite &site, mlir::Attribute value);
bool isCount(const AttributeSite &site, mlir::Attribute value);
bool isSmallCount(const AttributeSite &site, mlir::Attribute value);
bool isListOfCounts(const AttributeSite &site, mlir::Attribute value);
bool isJsonObject(const AttributeSite &site, mlir::Attribute value);
bool isGlobalType(const AttributeSite &site, mlir::Attribute value);

inline constexpr Requirement kName{isName,
                                   "a string of UTF-8 that is not empty"};
inline constexpr Requirement kUnit{isUnit, "without a value"};
inline constexpr Requirement kCount{isCount, "an i64 that is not negative"};
inline constexpr Requirement kSmallCount{isSmallCount,
                                         "an i64 from 0 to 2147483647"};
inline constexpr Requirement kListOfCounts{
    isListOfCounts, "array<i64: ...> of numbers that are not negative"};
inline constexpr Requirement kJsonObject{
    isJsonObject, "a dictionary of numbers, strings, arrays and dictionaries"};
inline constexpr Requirement kGlobalType{isGlobalType,
                                         "a tensor type of static shape"};

} // namespace tessera::dist

#endif // TESSERA_DIALECT_DIST_ATTRIBUTERULES_H
