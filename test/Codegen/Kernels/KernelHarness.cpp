//===- KernelHarness.cpp - compile kernels and run them -------------------===//

#include "test/Codegen/Kernels/KernelHarness.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Codegen/Kernels/Passes.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Target/SharedObject.h"
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

static void replaceAll(std::string &text, const std::string &from,
                       const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string instantiate(const std::string &file,
                        const std::map<std::string, std::string> &values) {
  std::ifstream stream(std::string(TESSERA_KERNELS) + "/" + file);
  EXPECT_TRUE(stream.good()) << file;
  std::stringstream content;
  content << stream.rdbuf();
  std::string text = content.str();
  for (const auto &[name, value] : values) {
    replaceAll(text, "${" + name + "}", value);
  }
  return text;
}

std::string withRowStride(const std::string &text, const std::string &type,
                          int64_t stride) {
  std::string layout = ", #rt.row_stride<" + std::to_string(stride) + ">";
  std::string padded = text;
  replaceAll(padded, "tensor<" + type + ">", "tensor<" + type + layout + ">");
  return padded;
}

static void *load(const llvm::SmallVector<char> &object) {
  char path[] = "/tmp/tessera-kernels-XXXXXX";
  int file = mkstemp(path);
  bool written = write(file, object.data(), object.size()) ==
                 static_cast<ssize_t>(object.size());
  close(file);
  void *handle = written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!handle)
    fprintf(stderr, "%s\n", dlerror());
  unlink(path);
  return handle;
}

/// Returns whether the same tests run on CUDA kernels under the emulator.
static bool testsGrid() { return getenv("TESSERA_TEST_GRID") != nullptr; }

static void *compileWith(const std::string &text,
                         const tessera::KernelToLLVMPipelineOptions &pipeline,
                         const tessera::CpuTarget &target,
                         const tessera::SharedObjectOptions &options) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                      mlir::tensor::TensorDialect, tessera::rt::RTDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    abort();
  mlir::PassManager manager(&context);
  tessera::buildKernelToLLVMPipeline(manager, pipeline);
  if (mlir::failed(manager.run(*module)))
    abort();
  auto object = tessera::emitSharedObject(*module, target, options);
  void *handle = mlir::failed(object) ? nullptr : load(*object);
  if (!handle)
    abort();
  return handle;
}

LoadedKernels LoadedKernels::compile(const std::string &text,
                                     unsigned vectorBits) {
  mlir::MLIRContext context;
  auto emitError = [&] {
    return mlir::emitError(mlir::UnknownLoc::get(&context));
  };
  auto target = tessera::CpuTarget::get("native", emitError);
  if (mlir::failed(target))
    abort();
  if (vectorBits)
    target->vectorBits = vectorBits;
  tessera::KernelToLLVMPipelineOptions pipeline;
  pipeline.vectorBits = target->vectorBits;
  pipeline.cuda = pipeline.emulate = testsGrid();
  tessera::SharedObjectOptions options;
  options.exportKernels = true;
  options.linker = TEST_LINKER;
  if (const char *path = getenv("TESSERA_KERNEL_IR"))
    options.llvmIrPath = path;
  return LoadedKernels(compileWith(text, pipeline, *target, options));
}

LoadedKernels LoadedKernels::compileImage(const std::string &text) {
  mlir::MLIRContext context;
  auto emitError = [&] {
    return mlir::emitError(mlir::UnknownLoc::get(&context));
  };
  auto target = tessera::CpuTarget::get("native", emitError);
  tessera::KernelToLLVMPipelineOptions pipeline;
  pipeline.cuda = true;
  tessera::SharedObjectOptions options;
  options.linker = TEST_LINKER;
  auto cuda =
      tessera::CudaTarget::get(tessera::CudaTarget::kDefault, emitError);
  if (mlir::failed(target) || mlir::failed(cuda))
    abort();
  options.cuda = *cuda;
  return LoadedKernels(compileWith(text, pipeline, *target, options));
}

const tsr_abi_device_image &LoadedKernels::image() const {
  void *symbol = dlsym(handle, TSR_PROGRAM_IMAGE);
  if (!symbol)
    abort();
  return *static_cast<const tsr_abi_device_image *>(symbol);
}

LoadedKernels::~LoadedKernels() {
  if (handle)
    dlclose(handle);
}

tsr_abi_kernel LoadedKernels::operator[](const char *name) const {
  void *symbol = dlsym(handle, name);
  EXPECT_NE(symbol, nullptr) << name;
  return reinterpret_cast<tsr_abi_kernel>(symbol);
}

static size_t pagesOf(size_t bytes) {
  size_t page = sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

/// CUDA kernels may ask for 16-byte alignment, as the arena gives it.
static size_t guardedBytes(size_t bytes) {
  return testsGrid() ? (bytes + 15) / 16 * 16 : bytes;
}

void *allocateGuarded(size_t bytes) {
  bytes = guardedBytes(bytes);
  size_t page = sysconf(_SC_PAGESIZE), size = pagesOf(bytes);
  void *base = mmap(nullptr, size + page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    abort();
  char *start = static_cast<char *>(base);
  mprotect(start + size, page, PROT_NONE);
  return start + size - bytes;
}

void freeGuarded(void *data, size_t bytes) {
  bytes = guardedBytes(bytes);
  size_t page = sysconf(_SC_PAGESIZE), size = pagesOf(bytes);
  munmap(static_cast<char *>(data) + bytes - size, size + page);
}

void runIn(tsr_abi_kernel kernel, std::vector<void *> buffers,
           std::vector<int64_t> scalars, std::vector<int64_t> cuts) {
  for (size_t i = 0; i + 1 < cuts.size(); ++i)
    kernel(buffers.data(), scalars.data(), cuts[i], cuts[i + 1]);
}
