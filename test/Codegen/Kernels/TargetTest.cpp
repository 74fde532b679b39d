//===- TargetTest.cpp - CPU names, the linker, the artifact ---------------===//

#include "lib/Target/CudaTarget.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "tessera/Target/SharedObject.h"
#include "tessera/Target/WriteArtifact.h"
#include "test/Codegen/Kernels/KernelHarness.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include <atomic>
#include <dirent.h>
#include <dlfcn.h>
#include <thread>
#include <unistd.h>

class Target : public ::testing::Test {
protected:
  Target()
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          message = diagnostic.str();
        }) {
    context.loadDialect<mlir::LLVM::LLVMDialect>();
  }
  auto emitter() {
    return [this] { return mlir::emitError(mlir::UnknownLoc::get(&context)); };
  }
  mlir::OwningOpRef<mlir::ModuleOp> parse(const char *text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  bool says(const char *text) const {
    return message.find(text) != std::string::npos;
  }
  mlir::MLIRContext context;
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

TEST_F(Target, UnknownCpuListsValidNames) {
  EXPECT_TRUE(mlir::failed(tessera::CpuTarget::get("znver44", emitter())));
  EXPECT_TRUE(says("unknown cpu 'znver44'") && says("native") &&
              says("x86-64-v3"))
      << message;
}

TEST_F(Target, NamedCpusHaveTheirVectorWidth) {
  EXPECT_EQ(tessera::CpuTarget::get("x86-64-v2", emitter())->vectorBits, 128u);
  EXPECT_EQ(tessera::CpuTarget::get("x86-64-v3", emitter())->vectorBits, 256u);
  EXPECT_EQ(tessera::CpuTarget::get("znver4", emitter())->vectorBits, 512u);
}

TEST(TargetThreads, FirstUsesAtTheSameTimeFindOneTargetEach) {
  constexpr int count = 8;
  std::atomic<int> waiting{count};
  std::atomic<int> found{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&] {
      mlir::MLIRContext context;
      auto emitter = [&] {
        return mlir::emitError(mlir::UnknownLoc::get(&context));
      };
      for (--waiting; waiting > 0;)
        ;
      if (mlir::succeeded(tessera::CudaTarget::get("sm_90", emitter)))
        ++found;
      if (mlir::succeeded(tessera::CpuTarget::get("native", emitter)))
        ++found;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(found, 2 * count);
}

static const char *kProgram = R"(
llvm.func internal @kernel(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64, %d: i64) {
  llvm.return
}
llvm.func @tsr_program_step(%frame: !llvm.ptr) -> i32 {
  %zero = llvm.mlir.constant(7 : i32) : i32
  %kernel = llvm.mlir.addressof @kernel : !llvm.ptr
  llvm.store %kernel, %frame : !llvm.ptr, !llvm.ptr
  llvm.return %zero : i32
})";

static void *loadObject(const llvm::SmallVector<char> &object) {
  char path[] = "/tmp/tessera-target-XXXXXX";
  int file = mkstemp(path);
  EXPECT_EQ(write(file, object.data(), object.size()), ssize_t(object.size()));
  close(file);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  return handle;
}

TEST_F(Target, OnlyTheProgramIsExported) {
  auto module = parse(kProgram);
  auto target = tessera::CpuTarget::get("native", emitter());
  auto object = tessera::emitSharedObject(*module, *target);
  ASSERT_TRUE(mlir::succeeded(object)) << message;
  void *handle = loadObject(*object);
  ASSERT_NE(handle, nullptr) << dlerror();
  EXPECT_NE(dlsym(handle, TSR_PROGRAM_STEP), nullptr);
  EXPECT_EQ(dlsym(handle, "kernel"), nullptr);
  dlclose(handle);
}

TEST_F(Target, MissingLinkerIsAnError) {
  auto module = parse(kProgram);
  auto target = tessera::CpuTarget::get("native", emitter());
  tessera::SharedObjectOptions options;
  options.linker = "/nonexistent/ld.lld";
  EXPECT_TRUE(
      mlir::failed(tessera::emitSharedObject(*module, *target, options)));
  EXPECT_TRUE(says("'/nonexistent/ld.lld' is not an executable linker"))
      << message;
}

TEST_F(Target, UndefinedSymbolIsAnError) {
  auto module = parse(R"(
llvm.func @no_such_function()
llvm.func @tsr_program_step(%frame: !llvm.ptr) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.call @no_such_function() : () -> ()
  llvm.return %zero : i32
})");
  auto target = tessera::CpuTarget::get("native", emitter());
  EXPECT_TRUE(mlir::failed(tessera::emitSharedObject(*module, *target)));
  EXPECT_TRUE(says("no_such_function")) << message;
}

TEST_F(Target, ArtifactHasHeaderAndHash) {
  char directory[] = "/tmp/tessera-artifact-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  std::string path = std::string(directory) + "/model.tsr";
  std::vector<char> code = {1, 2, 3, 4, 5};
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(mlir::succeeded(
        tessera::writeArtifact(path, "{\"a\": 1}", code, emitter())))
        << message;
  auto file = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(file));
  llvm::StringRef bytes = (*file)->getBuffer();
  tsr_abi_header header;
  ASSERT_EQ(bytes.size(), sizeof(header) + 8 + 5);
  std::memcpy(&header, bytes.data(), sizeof(header));
  EXPECT_STREQ(header.magic, TSR_ARTIFACT_MAGIC);
  EXPECT_EQ(header.abi_version, unsigned(TSR_ABI_VERSION));
  EXPECT_EQ(header.header_bytes, sizeof(header));
  EXPECT_EQ(header.metadata_bytes, 8u);
  EXPECT_EQ(header.code_bytes, 5u);
  EXPECT_EQ(header.hash, llvm::xxh3_64bits(bytes.drop_front(sizeof(header))));
  unlink(path.c_str());
  EXPECT_EQ(rmdir(directory), 0) << "a temporary file was left";
}

TEST_F(Target, ArtifactErrorsNameTheReason) {
  // Nobody can make a directory there.
  EXPECT_TRUE(mlir::failed(
      tessera::writeArtifact("/proc/none/x.tsr", "{}", {}, emitter())));
  EXPECT_TRUE(says("cannot write '/proc/none/x.tsr': No such file")) << message;
}
