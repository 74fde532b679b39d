//===- ScatterAdd.cu - rows added in order, without atomics ---------------===//

#include "runtime/cuda/Element.h"
#include "runtime/cuda/ScatterAdd.h"
#include "tessera/abi.h"

#include <cub/device/device_radix_sort.cuh>

namespace tessera::cuda {

namespace {
constexpr int threads = 128;
// Rows loaded before they are added: hides the latency of memory.
constexpr int ahead = 8;
constexpr uint32_t nowhere = UINT32_MAX; // sorts after every table row

/// Parts of the workspace, each a multiple of 256 bytes.
struct Sorting {
  uint32_t *keys, *sortedKeys;
  int32_t *rows, *sortedRows;
  void *temporary;
  size_t temporaryBytes, bytes;
};

size_t padded(size_t bytes) { return (bytes + 255) / 256 * 256; }

Sorting layOut(int64_t rows, void *workspace) {
  Sorting s{};
  cub::DeviceRadixSort::SortPairs(nullptr, s.temporaryBytes, s.keys,
                                  s.sortedKeys, s.rows, s.sortedRows,
                                  static_cast<int>(rows));
  char *at = static_cast<char *>(workspace);
  size_t part = padded(static_cast<size_t>(rows) * 4);
  s.keys = reinterpret_cast<uint32_t *>(at);
  s.sortedKeys = reinterpret_cast<uint32_t *>(at + part);
  s.rows = reinterpret_cast<int32_t *>(at + 2 * part);
  s.sortedRows = reinterpret_cast<int32_t *>(at + 3 * part);
  s.temporary = at + 4 * part;
  s.bytes = 4 * part + padded(s.temporaryBytes);
  return s;
}

__global__ void keyKernel(ScatterProblem p, uint32_t *keys, int32_t *rows) {
  int64_t r = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (r >= p.rows)
    return;
  int64_t row = int64_t(p.ids[r]) - p.start;
  keys[r] = row < 0 || row >= p.valid ? nowhere : static_cast<uint32_t>(row);
  rows[r] = static_cast<int32_t>(r);
}

/// Block x starts at sorted place x; it works if a table row begins there.
template <class Source, class Table>
__global__ void addKernel(ScatterProblem p, const uint32_t *keys,
                          const int32_t *rows) {
  int64_t place = blockIdx.x;
  uint32_t key = keys[place];
  if (key == nowhere || (place > 0 && keys[place - 1] == key))
    return;
  int64_t column = int64_t(blockIdx.y) * blockDim.x + threadIdx.x;
  if (column >= p.columns)
    return;
  const Source *source = static_cast<const Source *>(p.source) + column;
  Table *target = static_cast<Table *>(p.table) + key * p.columns + column;
  Table sum = *target;
  for (; place < p.rows && keys[place] == key; place += ahead) {
    Table next[ahead];
    bool used[ahead];
    for (int i = 0; i < ahead; ++i) {
      used[i] = place + i < p.rows && keys[place + i] == key;
      if (used[i])
        next[i] = Table(widen(source[rows[place + i] * p.columns]));
    }
    for (int i = 0; i < ahead; ++i)
      if (used[i])
        sum += next[i];
  }
  *target = sum;
}

template <class Source, class Table>
cudaError_t launchAdd(const ScatterProblem &p, const Sorting &s,
                      cudaStream_t stream) {
  dim3 grid(static_cast<unsigned>(p.rows),
            static_cast<unsigned>((p.columns + threads - 1) / threads));
  addKernel<Source, Table>
      <<<grid, threads, 0, stream>>>(p, s.sortedKeys, s.sortedRows);
  return cudaGetLastError();
}

template <class Source>
cudaError_t launchAdd(const ScatterProblem &p, const Sorting &s,
                      cudaStream_t stream) {
  return p.dtypeTable == TSR_DTYPE_F64 ? launchAdd<Source, double>(p, s, stream)
                                       : launchAdd<Source, float>(p, s, stream);
}
} // namespace

size_t scatterWorkspace(const ScatterProblem &problem) {
  return problem.rows == 0 ? 0 : layOut(problem.rows, nullptr).bytes;
}

cudaError_t scatterAdd(const ScatterProblem &p, void *workspace,
                       cudaStream_t stream) {
  if (p.rows == 0 || p.columns == 0)
    return cudaSuccess;
  Sorting s = layOut(p.rows, workspace);
  unsigned blocks = static_cast<unsigned>((p.rows + threads - 1) / threads);
  keyKernel<<<blocks, threads, 0, stream>>>(p, s.keys, s.rows);
  if (cudaError_t error = cudaGetLastError())
    return error;
  if (cudaError_t error = cub::DeviceRadixSort::SortPairs(
          s.temporary, s.temporaryBytes, s.keys, s.sortedKeys, s.rows,
          s.sortedRows, static_cast<int>(p.rows), 0, 32, stream))
    return error;
  if (p.dtypeSource == TSR_DTYPE_F64)
    return launchAdd<double>(p, s, stream);
  if (p.dtypeSource == TSR_DTYPE_BF16)
    return launchAdd<Bf16>(p, s, stream);
  return launchAdd<float>(p, s, stream);
}

} // namespace tessera::cuda
