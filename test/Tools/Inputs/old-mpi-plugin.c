/* A plug-in whose table has another version, and no functions. */
const int *tsr_mpi_plugin(void) {
  static const int table[64] = {99};
  return table;
}
