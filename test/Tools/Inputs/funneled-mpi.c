/* Preloaded: an MPI that offers fewer threads than the one that is there. */
#include <mpi.h>

int MPI_Init_thread(int *count, char ***arguments, int required, int *offered) {
  (void)required;
  return PMPI_Init_thread(count, arguments, MPI_THREAD_FUNNELED, offered);
}
