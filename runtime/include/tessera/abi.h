/*===- abi.h - contract between compiled programs and the runtime ---------===*\
|* Names and plain structs only, C11, no dependency. The compiler (lib/) and  *|
|* the runtime (runtime/) both include it; nothing else is shared by them.    *|
|* A compiled program is a shared object that exports `tsr_program_step` and  *|
|* calls the runtime only through the table `tsr_abi_api`.                    *|
\*===----------------------------------------------------------------------===*/
#ifndef TESSERA_ABI_H
#define TESSERA_ABI_H

#include "tessera/abi_arguments.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever anything in this file or in the artifact layout changes. */
#define TSR_ABI_VERSION 15

/* ------------------------------------------------------------- artifact ---
 * A `.tsr` file is: this header (little endian), `metadata_bytes` of UTF-8
 * JSON (docs/Artifact.md describes it), `code_bytes` of an ELF shared object.
 * `hash` is XXH3-64 of everything after the header, seed 0. `key` is the
 * Ed25519 public key of who signed the file, and `signature` is of the whole
 * file, with zeros in its own place; both are zeros in an unsigned file. */
#define TSR_ARTIFACT_MAGIC "TESSERA" /* 8 bytes with the final zero */
enum { TSR_KEY_BYTES = 32, TSR_SIGNATURE_BYTES = 64 };
typedef struct tsr_abi_header {
  char magic[8];
  uint32_t abi_version;
  uint32_t header_bytes; /* sizeof(tsr_abi_header) */
  uint64_t metadata_bytes;
  uint64_t code_bytes;
  uint64_t hash;
  uint8_t key[TSR_KEY_BYTES];
  uint8_t signature[TSR_SIGNATURE_BYTES];
} tsr_abi_header;

/* Limits of an artifact: enough for every model, and so little that sums and
 * products of checked numbers do not overflow. The compiler refuses a program
 * beyond them, the runtime an artifact. */
#define TSR_LIMIT_METADATA_BYTES (INT64_C(1) << 28)
#define TSR_LIMIT_RANKS (INT64_C(1) << 16)
#define TSR_LIMIT_DIMENSION (INT64_C(1) << 40)
#define TSR_LIMIT_ELEMENTS (INT64_C(1) << 56) /* in a tensor */
#define TSR_LIMIT_ARENA_BYTES (INT64_C(1) << 50)

/* Element types, as stored in buffers. */
enum {
  TSR_DTYPE_F32 = 0,
  TSR_DTYPE_BF16 = 1,
  TSR_DTYPE_F64 = 2,
  TSR_DTYPE_I32 = 3,
  TSR_DTYPE_I8 = 4
};

/* Reductions of a collective. */
enum { TSR_REDUCE_SUM = 0, TSR_REDUCE_MAX = 1 };

/* ------------------------------------------------------------- program ---*/

/* A fused kernel. It works on [begin, end) of its parallel dimension: rows for
 * the row schedule, columns for the column schedule. `buffers` are its operands
 * in order (inputs, then outputs), `scalars` its integers in order. Several
 * threads run it at once on disjoint ranges. */
typedef void (*tsr_abi_kernel)(void *const *buffers, const int64_t *scalars,
                               int64_t begin, int64_t end);

/* A fused kernel of a program for an accelerator, whose shapes are all known at
 * compile time: it covers its whole space in one grid. Its parameters are
 * `buffers` pointers into the arena (inputs, then outputs), then a pointer to
 * its int64 scalars in device memory, then a pointer to the workspace that it
 * shares with `next`: device memory that holds nothing between launches. */
typedef struct tsr_abi_device_kernel {
  const char *name;     /* its function's name in the image */
  int64_t blocks;       /* blocks in the grid */
  int64_t threads;      /* threads in a block */
  int64_t shared_bytes; /* dynamic shared memory of a block */
  int64_t buffers;
  int64_t scalars;
  /* Runs after it with the same parameters; null: none. */
  const struct tsr_abi_device_kernel *next;
  /* Name of its form for several launches at once; null: none. */
  const char *batched;
} tsr_abi_device_kernel;

/* The form for several launches has the kernel's blocks and threads for each of
 * them: block (x, y) of its grid is block x of launch y. Its one parameter is a
 * table of pointers, by value: the buffers of the first launch, then those of
 * the next. It reads neither scalars nor the workspace. */
enum { TSR_BATCH_POINTERS = 512 };

/* All device kernels of a program. The cubin is used on the architecture it is
 * for, PTX (zero-terminated text) on others through the driver's compiler. */
typedef struct tsr_abi_device_image {
  const char *ptx;
  int64_t ptx_bytes; /* with the final zero */
  const void *cubin; /* null: there was no assembler at compile time */
  int64_t cubin_bytes;
  int64_t workspace_bytes; /* the most that a kernel needs */
} tsr_abi_device_image;

/* The symbol of the image; only programs for an accelerator export it. */
#define TSR_PROGRAM_IMAGE "tsr_program_image"

/* Every runtime entry has this shape. `op` indexes "ops" of the metadata, for
 * diagnostics. Returns 0, or non-zero to stop the step: the runtime has already
 * recorded the error, and the program returns the value unchanged. */
typedef int32_t (*tsr_abi_entry)(void *context, int64_t op,
                                 void *const *buffers, const int64_t *args);

/* The functions that generated code may call. abi_entries.def lists the
 * entries, and abi_arguments.h the arguments of each. */
typedef struct tsr_abi_api {
  int64_t bytes; /* sizeof(tsr_abi_api) */
#define TSR_ABI_ENTRY(name, NAME, KIND, BUFFERS, ARGUMENTS) tsr_abi_entry name;
#include "tessera/abi_entries.def"
} tsr_abi_api;

/* Indices of the entries in tsr_abi_api, whose words they are. */
enum {
  TSR_ENTRY_NONE = 0, /* `bytes` */
#define TSR_ABI_ENTRY(name, NAME, KIND, BUFFERS, ARGUMENTS) TSR_ENTRY_##NAME,
#include "tessera/abi_entries.def"
  TSR_ENTRY_END
};

/* The kind of an entry. Collectives are calls of all ranks of a group, messages
 * of two ranks; control entries neither compute nor communicate. */
enum {
  TSR_KIND_COMPUTE = 0,
  TSR_KIND_COLLECTIVE,
  TSR_KIND_MESSAGE,
  TSR_KIND_CONTROL
};

/* Most of a program is data: lists of calls, which the runtime makes one by
 * one. A call is a tsr_abi_call, then a word for each buffer, then a word for
 * each computed argument. */
typedef struct tsr_abi_call {
  int32_t entry;     /* TSR_ENTRY_* */
  int32_t kernel;    /* its number; it is buffers[0]. -1: none */
  int32_t buffers;   /* words after this */
  int32_t arguments; /* number of the entry's arguments */
  int32_t first;     /* index of the first of these in the table of all */
  int32_t computed;  /* words after those of buffers */
} tsr_abi_call;

/* A buffer's word: its offset in the arena, and above TSR_BUFFER_OFFSET_BITS
 * the scalar that is added to it; scalar 0 is zero. */
enum { TSR_BUFFER_OFFSET_BITS = 48, TSR_NO_BUFFER = -1 };

/* A computed argument's word: its index, and above 32 bits the scalar that is
 * added to what the table holds. */
typedef struct tsr_abi_calls {
  int64_t count;
  int64_t first_op;         /* index of the first call in "ops" */
  const void *words;        /* the calls, without gaps */
  const int64_t *arguments; /* those of all lists */
  void *const *kernels;
} tsr_abi_calls;

struct tsr_abi_frame;

/* Makes the calls, up to the first status that is not zero, which it returns.
 * `scalars` is what the program computed for this list. */
typedef int32_t (*tsr_abi_run)(const struct tsr_abi_frame *frame,
                               const tsr_abi_calls *calls,
                               const int64_t *scalars);

/* The data that one rank hands to its program, for one optimizer step. */
typedef struct tsr_abi_frame {
  const tsr_abi_api *api;
  void *context;              /* the rank; passed on to every entry */
  unsigned char *arena;       /* all of the rank's buffers, 64-byte aligned */
  int64_t step;               /* optimizer step, from 0 */
  int64_t seed;               /* the dropout seed */
  const int64_t *coordinates; /* the rank's, one per mesh axis, mesh order */
  tsr_abi_run run;
} tsr_abi_frame;

/* The symbols that a program exports: one optimizer step of one rank and, if
 * there is one, an evaluation of one batch, which changes no parameter. A
 * program for generation has instead of these, or beside them, a step of few
 * rows, one of more, and one that scores labels of rows; `step` of the frame
 * then counts steps of any of these. One that encodes texts has only that, and
 * `step` counts its runs. */
#define TSR_PROGRAM_STEP "tsr_program_step"
#define TSR_PROGRAM_EVALUATION "tsr_program_evaluation"
#define TSR_PROGRAM_DECODE "tsr_program_decode"
#define TSR_PROGRAM_MIXED "tsr_program_mixed"
#define TSR_PROGRAM_SCORE "tsr_program_score"
#define TSR_PROGRAM_ENCODE "tsr_program_encode"
typedef int32_t (*tsr_abi_program)(const tsr_abi_frame *frame);

/* ---------------------------------------------------------- randomness ---
 * Random numbers are Philox4x32-10 (Salmon et al. 2011): counter = (index low,
 * index high, 0, 0), key = (key low, key high); the first output word is used.
 * The key of a stream mixes seed, step and stream so that none repeats:
 * splitmix64 finalizer of (seed + 0x9E3779B97F4A7C15 * (step + 1))
 * xor-ed with 0xD1B54A32D192ED03 * (stream + 1), finalized again. Initial
 * values use step -1, so (step + 1) is 0. */
static inline uint64_t tsr_abi_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
static inline uint64_t tsr_abi_stream(int64_t seed, int64_t step,
                                      int64_t stream) {
  uint64_t a =
      tsr_abi_mix((uint64_t)seed + 0x9E3779B97F4A7C15u * (uint64_t)(step + 1));
  return tsr_abi_mix(a ^ (0xD1B54A32D192ED03u * (uint64_t)(stream + 1)));
}

#ifdef __cplusplus
}
#endif
#endif /* TESSERA_ABI_H */
