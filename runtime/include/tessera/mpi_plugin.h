/*===- mpi_plugin.h - what the runtime asks of an MPI -------------------*- C
 *-*-===// MPIs differ in the layout of their handles, so the few calls that the
 *runtime makes are compiled once for each MPI, from
 *runtime/collectives/mpi/Plugin.c, and opened at run time. No MPI is needed to
 *build or to run without one.
 *
 * All functions return MPI_SUCCESS, 0, or an error code of the MPI, which
 * `describe` explains. Those that transfer may be called by a thread for each
 * lane at a time; the others by one thread.
 *===----------------------------------------------------------------------===*/
#ifndef TESSERA_MPI_PLUGIN_H
#define TESSERA_MPI_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The plug-in's function without arguments that returns its table. */
#define TSR_MPI_PLUGIN "tsr_mpi_plugin"
/* Changes with the table: a plug-in of another number is refused. */
#define TSR_MPI_PLUGIN_VERSION 1
/* Lanes have communicators of their own, so their messages never meet. */
#define TSR_MPI_LANES 2
/* The most bytes of one message. */
#define TSR_MPI_MOST_BYTES (1 << 30)

/* A message on its way: a handle of the MPI. */
typedef struct tsr_mpi_request {
  uint64_t handle;
} tsr_mpi_request;

typedef struct tsr_mpi_place {
  int32_t rank, size;
  int32_t is_threaded; /* not 0: several threads may call the MPI at a time */
  const char *threads; /* the level of threads that it offers, for people */
} tsr_mpi_place;

typedef struct tsr_mpi_plugin {
  int32_t version;    /* TSR_MPI_PLUGIN_VERSION of the compiled plug-in */
  const char *family; /* "Open MPI", "MPICH" or "MPI": whose mpirun it needs */

  /* Returns the name and version of the MPI that was loaded. */
  const char *(*library)(void);
  /* Starts the MPI, unless the program has, and makes the lanes. */
  int32_t (*start)(tsr_mpi_place *out_place);
  /* Ends the MPI if `start` has started it. Collective. */
  int32_t (*finish)(void);
  /* Copies `bytes` of rank 0 to all. */
  int32_t (*broadcast)(void *data, int32_t bytes);
  /* Puts `bytes` of each rank side by side. */
  int32_t (*gather_all)(const void *own, void *all, int32_t bytes);

  int32_t (*start_send)(int32_t lane, const void *data, int32_t bytes,
                        int32_t peer, tsr_mpi_request *out_request);
  int32_t (*start_receive)(int32_t lane, void *data, int32_t bytes,
                           int32_t peer, tsr_mpi_request *out_request);
  /* Sets done[i] to 1 for each request that is done since the last call, and
   * to -1 for each that has failed; neither may be tested again. */
  int32_t (*test)(tsr_mpi_request *requests, int32_t count, int8_t *done);
  /* Asks to give a request up; it is done some time later. */
  int32_t (*cancel)(tsr_mpi_request *request);
  void (*describe)(int32_t code, char *text, size_t room);
} tsr_mpi_plugin_table;

typedef const tsr_mpi_plugin_table *tsr_mpi_plugin_entry(void);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_MPI_PLUGIN_H */
