//===- ProgramJson.h - programs from and to metadata ------------*- C++ -*-===//
// The JSON of docs/Artifact.md by the table program_fields.def. An artifact may
// list hundreds of thousands of calls: they are read and written one by one.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PROGRAM_PROGRAMJSON_H
#define TESSERA_PROGRAM_PROGRAMJSON_H

#include "tessera/Program/Program.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace tessera::program {

/// Reads all of a program but its calls. Keys that are absent leave the default
/// of their field, as in older artifacts. Values of another type, or outside of
/// their bounds, are errors, which name their place: "'ops[3].times' is 0, must
/// be in [1, 2147483647]".
llvm::Expected<Program> readProgram(llvm::StringRef metadata);

/// Reads what an arena holds over a step, which `toJson` wrote.
llvm::Expected<OverStep> readOverStep(llvm::StringRef text);

/// Passes on the calls of the first program, in their order, until one is
/// refused. `program` is what readProgram made of the same metadata.
llvm::Error readCalls(llvm::StringRef metadata, const Program &program,
                      llvm::function_ref<llvm::Error(Call &call)> take);

/// Writes the members of a call into the object that is open.
void writeCall(llvm::json::OStream &out, const Call &call);

llvm::json::Value toJson(const Mesh &mesh);
llvm::json::Value toJson(const Tensor &tensor);
llvm::json::Value toJson(const Pipeline &pipeline);
llvm::json::Value toJson(const std::vector<Task> &tasks);
llvm::json::Value toJson(const OverStep &overStep);
llvm::json::Value toJson(const Arena &arena);
llvm::json::Value toJson(const Totals &totals);

} // namespace tessera::program

#endif // TESSERA_PROGRAM_PROGRAMJSON_H
