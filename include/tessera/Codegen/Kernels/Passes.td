//===- Passes.td - from kernels to LLVM --------------------*- tablegen -*-===//

#ifndef TESSERA_CODEGEN_KERNELS_PASSES_TD
#define TESSERA_CODEGEN_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertKernelToLLVMPass : Pass<"convert-kernel-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Turn fused kernels into vectorised functions of the kernel ABI";
  let description = [{
    Before: functions with `rt.schedule = "row"` or `"column"` hold
    linalg.generic ops on tensors over one (rows, columns) iteration space.

    After: each is an internal `llvm.func` of the same name and of type
    `void (ptr buffers, ptr scalars, i64 begin, i64 end)` (`tsr_abi_kernel`),
    made of scf loops and arith, math and vector ops on vectors. Everything
    else in the module is left as it was.

    A kernel that is not supported is an error that says why.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "512",
           "Width of a vector register: 128, 256 or 512">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def BatchLaunchesPass : Pass<"rt-batch-launches", "::mlir::ModuleOp"> {
  let summary = "Mark the launches that a GPU runs as one";
  let description = [{
    Before: kernels as for convert-kernel-to-nvvm, and programs with offsets.

    After: where launches of one kernel follow one another and none touches
    memory that another one writes, each has `rt.followers`, the number of those
    after it; the last has none. They are at most as many as a table of
    `TSR_BATCH_POINTERS` buffers holds. Launches with scalars, with buffers whose
    place depends on the micro-batch, and of kernels that use the workspace stay
    alone.
  }];
}

def ConvertKernelToNVVMPass : Pass<"convert-kernel-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Turn fused kernels into CUDA kernels with a fixed grid";
  let description = [{
    Before: as convert-kernel-to-llvm, and `rt.schedule` may be `"both"`.

    After: each kernel is an `llvm.func` of the same name with `nvvm.kernel`, of
    type `void (ptr buffers..., ptr scalars, ptr workspace)`, made of scf loops,
    arith, math and vector ops and nvvm's coordinates, shuffles and barriers;
    beside it stands `@NAME_descriptor`, its `tsr_abi_device_kernel`. Sums along
    columns over many rows are two kernels: `@NAME` adds the rows of each slice
    into the workspace, `@NAME_total`, its `next`, adds those. So are rows with
    reductions along columns; all else is then done by `@NAME`. The module's
    `rt.workspace_bytes` is the most that one of them needs. A kernel that has
    launches with `rt.followers` has a second form, `@NAME_batch`, which computes
    several launches at once and takes a table of their buffers.

    Functions of f64 (exp, tanh, ...) are an error unless `has-libm` is set:
    PTX has none.
  }];
  let options = [
    Option<"hasLibm", "has-libm", "bool", "false",
           "Leave functions of f64 to libm: for the emulator">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def ConvertKernelOpsToLLVMPass : Pass<"convert-kernel-ops-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert the ops inside kernels to the LLVM dialect";
  let description = [{
    Before: ops of scf, cf, arith, index, math, vector and func on scalars and
    vectors of one dimension. After: the LLVM dialect. One conversion does all
    of it, because a pass for each dialect would take several times as long. A
    function that LLVM has no intrinsic for (f64 only) becomes a call of libm
    per lane.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"
  ];
}

def LowerKernelsPass : Pass<"lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Lower kernels alone to the LLVM dialect";
  let description = [{
    Before: kernels of convert-kernel-to-llvm or convert-kernel-to-nvvm beside
    the lowered program. After: the kernels are in the LLVM dialect, and the
    program is as it was. Meanwhile the kernels are in a module of their own,
    because the program of a large model is many times as long and no pass here
    should walk it.
  }];
}

def EmulateGridPass : Pass<"emulate-grid", "::mlir::ModuleOp"> {
  let summary = "Turn CUDA kernels into host code that runs under an emulator";
  let description = [{
    Before: the LLVM dialect, with kernels of convert-kernel-to-nvvm.

    After: each kernel's code is a host function `NAME_thread`, in which
    coordinates, shuffles, barriers and shared memory are calls of an emulator
    (`GridEmulator`). NAME is a `tsr_abi_kernel` that asks the emulator to run
    its grid and those of the kernels after it; host code launches NAME. With
    `launches` host code still launches device kernels, of an image
    (`tsr_program_image`) that says "emulated": the device of a test finds
    `NAME_thread` and `NAME_descriptor` in the program. Tests use the pass to
    run CUDA kernels without a GPU.
  }];
  let options = [
    Option<"launches", "launches", "bool", "false",
           "Leave launches to a device, which finds the threads' functions">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ExpandKernelMathPass : Pass<"expand-kernel-math", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Expand f32 math functions into polynomials";
  let description = [{
    Before: math ops on f32 or bf16, scalars or vectors.

    After: exp, log, tanh, erf, cos, sin and rsqrt of f32 are arith and
    math.fma ops, exact to 4 ulp over the whole range, with IEEE results for
    NaN, infinities and zeros. Those of bf16 are computed in f32. Those of f64
    are left to libm, one call per lane. In CUDA kernels exp uses the GPU's
    power of two, and results below the smallest normal number are 0.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"
  ];
}

#endif // TESSERA_CODEGEN_KERNELS_PASSES_TD
