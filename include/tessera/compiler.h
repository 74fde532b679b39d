/*===- compiler.h - C API of the Tessera compiler -------------------------===*\
|* A model and its plan: searched, described, simulated, verified, compiled.  *|
|* A library of its own, libtessera_compiler, which holds what it uses of     *|
|* LLVM: who does not link it does not load that. C11.                        *|
|*                                                                            *|
|* Ownership, thread-safety and errors are those of tessera.h: an object is   *|
|* used by one thread at a time. Nothing is printed.                          *|
\*===----------------------------------------------------------------------===*/
#ifndef TESSERA_COMPILER_H
#define TESSERA_COMPILER_H

#include "tessera/tessera.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct tsr_compiler tsr_compiler;

/* Opens a config.json, a folder that holds one, or a .mlir program, which is
 * read when it is used. TSR_NOT_FOUND: there is no such file;
 * TSR_INVALID_ARGUMENT: it is a .tsr file, which is compiled already. */
tsr_status tsr_compiler_create(const char *model, tsr_compiler **out_compiler);
void tsr_compiler_destroy(tsr_compiler *compiler);

/* Calls `listener` with a line for each thing that a long call does, and for
 * each note of the compiler, such as a size that it chooses; NULL: nobody is
 * called. It runs in the thread of the call that it is about. */
typedef void (*tsr_compiler_listener)(void *context, const char *line);
void tsr_compiler_listen(tsr_compiler *compiler, tsr_compiler_listener listener,
                         void *context);

/* Sets an option of the plan: one of `tessera compile`, without dashes, and its
 * text as the command line takes it, as "mesh" and "dp=2,tp=2"; a switch is
 * "true" or "false" (docs/reference/options.md). Options that write files are
 * refused. TSR_INVALID_ARGUMENT: there is no such option, or it has no such
 * value. Options that do not go together are refused by the calls that use
 * them. */
tsr_status tsr_compiler_set(tsr_compiler *compiler, const char *option,
                            const char *value);
/* Takes the options of a plan file, which tsr_compiler_save_plan or
 * `tessera plan -o` wrote of the same model; all of them or, after an error,
 * none. TSR_NOT_FOUND; TSR_INVALID_ARGUMENT: it is no plan, is of another
 * model, or contradicts an option that is set. */
tsr_status tsr_compiler_load_plan(tsr_compiler *compiler, const char *path);

/* A search for a plan. Zero everywhere but `size` and `cluster` means the
 * defaults of `tessera plan`. */
typedef struct tsr_plan_search {
  size_t size;           /* sizeof(tsr_plan_search) */
  const char *cluster;   /* a file, such as clusters/a100.toml */
  int64_t devices;       /* at most those of the cluster; 0: all */
  const char *objective; /* "time", "memory" or "cost"; NULL: "time" */
  int64_t evaluations;   /* most plans that are compiled whole; 0: 60 */
  int32_t threads;       /* 0: one for each core */
} tsr_plan_search;

/* Searches the best plan for a cluster, in which the options that are set stay
 * as they are, and takes it. "batch" must be set: it changes what is learnt.
 * `out_json` gets what `tessera plan --json` prints, until the next call with
 * the compiler; NULL: nothing. TSR_INVALID_ARGUMENT: a file or an option is
 * refused, or nothing fits; the message then says what is nearest. */
tsr_status tsr_compiler_find_plan(tsr_compiler *compiler,
                                  const tsr_plan_search *search,
                                  const char **out_json);
/* Writes the options that are set or taken as a plan file. TSR_IO. */
tsr_status tsr_compiler_save_plan(const tsr_compiler *compiler,
                                  const char *path);

/* Each call below compiles the model by its plan and checks every type after
 * every pass. Texts are JSON as the command prints it with --json, valid until
 * the next call with the compiler. TSR_INVALID_ARGUMENT: the plan, the model or
 * a file is refused; the message names the line of the model. */

/* Counts parameters, flops, memory and communication: `tessera report`. */
tsr_status tsr_compiler_report(tsr_compiler *compiler, const char **out_json);
/* Predicts the time of a step on a cluster, which is a file: `tessera
 * simulate`. A plan that names no device is made for the cluster's. */
tsr_status tsr_compiler_simulate(tsr_compiler *compiler, const char *cluster,
                                 const char **out_json);
/* Compares the distributed program with the serial one, by types, by erasure
 * and by running a small model of the same make on threads of this process:
 * `tessera verify`. `out_verified` gets 0 if a check fails; the message of the
 * first is then in `out_json`, which may be NULL. */
tsr_status tsr_compiler_verify(tsr_compiler *compiler, int32_t *out_verified,
                               const char **out_json);
/* Writes the artifact, a .tsr file: `tessera compile`. */
tsr_status tsr_compiler_compile(tsr_compiler *compiler, const char *path);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif /* TESSERA_COMPILER_H */
