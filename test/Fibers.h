//===- Fibers.h - threads of emulated GPUs, on one of the CPU's -*- C++ -*-===//
// Fibers jump between stacks with the compiler's longjmp, a hundred times
// faster than swapcontext with its system calls; libc's longjmp looks at the
// stack that it leaves.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_FIBERS_H
#define TESSERA_TEST_FIBERS_H

#include <cstddef>
#include <cstdlib>
#include <ucontext.h>

namespace tessera::test {

/// To where __builtin_setjmp was called. Of its own: a function that has
/// __builtin_setjmp must not jump itself.
[[noreturn, gnu::noinline]] inline void jump(void **to) {
  __builtin_longjmp(to, 1);
}

/// Calls `entry`, which never returns, on another stack.
[[noreturn]] inline void enterStack(void *stack, size_t bytes,
                                    void (*entry)()) {
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = bytes;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
  setcontext(&context);
  std::abort();
}

} // namespace tessera::test

#endif // TESSERA_TEST_FIBERS_H
