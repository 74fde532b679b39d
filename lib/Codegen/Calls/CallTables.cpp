//===- CallTables.cpp - what the lists of calls of a program share --------===//

#include "lib/Codegen/Calls/CallTables.h"
#include "tessera/Codegen/Kernels/DeviceKernel.h"

using namespace mlir;
using namespace tessera;

static constexpr StringLiteral kArguments = "tsr_arguments";

int64_t CallTables::arguments(ArrayRef<int64_t> values) {
  auto [entry, isNew] = known.try_emplace(builder.getDenseI64ArrayAttr(values),
                                          static_cast<int64_t>(pool.size()));
  if (isNew)
    llvm::append_range(pool, values);
  return entry->second;
}

int64_t CallTables::kernel(StringRef symbol) {
  StringRef kept = builder.getStringAttr(symbol).getValue();
  return kernels.try_emplace(kept, kernels.size()).first->second;
}

LLVM::GlobalOp CallTables::create(StringRef name, Type type,
                                  Attribute content) {
  return LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                LLVM::Linkage::Internal, name, content);
}

static LLVM::LLVMArrayType arrayOf(Type element, size_t size) {
  return LLVM::LLVMArrayType::get(element, size);
}

static DenseElementsAttr contentOf(OpBuilder &builder,
                                   ArrayRef<int64_t> values) {
  return DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(values.size())},
                            builder.getI64Type()),
      values);
}

Value CallTables::addressOf(StringRef symbol, bool exists) {
  if (!exists)
    return LLVM::ZeroOp::create(builder, loc, pointer);
  return LLVM::AddressOfOp::create(builder, loc, pointer, symbol);
}

Value CallTables::integer(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), value);
}

void CallTables::fill(LLVM::GlobalOp global,
                      llvm::function_ref<SmallVector<Value>()> fields) {
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&global.getInitializerRegion());
  Value all = LLVM::UndefOp::create(builder, loc, global.getType());
  for (auto [index, field] : llvm::enumerate(fields()))
    all = LLVM::InsertValueOp::create(builder, loc, all, field,
                                      static_cast<int64_t>(index));
  LLVM::ReturnOp::create(builder, loc, all);
}

LLVM::GlobalOp CallTables::list(ArrayRef<int64_t> words, int64_t count,
                                int64_t firstOp) {
  Type i64 = builder.getI64Type();
  std::string name = "tsr_calls_" + std::to_string(lists++);
  LLVM::GlobalOp content = create(name + "_words", arrayOf(i64, words.size()),
                                  contentOf(builder, words));
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), {i64, i64, pointer, pointer, pointer});
  LLVM::GlobalOp global = create(name, type);
  fill(global, [&]() -> SmallVector<Value> {
    return {integer(count), integer(firstOp), addressOf(content.getSymName()),
            addressOf(kArguments, !pool.empty()),
            addressOf(kKernelTableSymbol, !kernels.empty())};
  });
  return global;
}

LLVM::GlobalOp CallTables::integers(StringRef name, ArrayRef<int64_t> values) {
  return create(name, arrayOf(builder.getI64Type(), values.size()),
                contentOf(builder, values));
}

LLVM::GlobalOp CallTables::indices(StringRef name, ArrayRef<int32_t> values) {
  int32_t largest = values.empty() ? 0 : *llvm::max_element(values);
  unsigned bits = llvm::isUInt<8>(largest)    ? 8
                  : llvm::isUInt<16>(largest) ? 16
                                              : 32;
  SmallVector<APInt> words;
  for (int32_t value : values)
    words.emplace_back(bits, value);
  auto size = static_cast<int64_t>(values.size());
  Type element = builder.getIntegerType(bits);
  return create(
      name, arrayOf(element, values.size()),
      DenseElementsAttr::get(RankedTensorType::get({size}, element), words));
}

LLVM::GlobalOp CallTables::functions(StringRef name,
                                     ArrayRef<LLVM::LLVMFuncOp> functions) {
  LLVM::GlobalOp global = create(name, arrayOf(pointer, functions.size()));
  fill(global, [&] {
    SmallVector<Value> addresses;
    for (LLVM::LLVMFuncOp function : functions)
      addresses.push_back(addressOf(LLVM::LLVMFuncOp(function).getSymName()));
    return addresses;
  });
  return global;
}

void CallTables::finish() {
  Type i64 = builder.getI64Type();
  if (!pool.empty())
    create(kArguments, arrayOf(i64, pool.size()), contentOf(builder, pool));
  if (kernels.empty())
    return;
  LLVM::GlobalOp global =
      create(kKernelTableSymbol, arrayOf(pointer, kernels.size()));
  fill(global, [&] {
    SmallVector<Value> addresses;
    for (auto &[symbol, index] : kernels)
      addresses.push_back(addressOf(symbol));
    return addresses;
  });
}
