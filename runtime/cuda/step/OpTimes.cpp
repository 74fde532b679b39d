#include "runtime/cuda/step/OpTimes.h"

namespace tessera::cuda {

OpTimes::OpTimes(cudaStream_t program)
    : program(program), start(OpTrace::Clock::now()) {
  origin.record(program);
}

void OpTimes::begin(int64_t op, cudaStream_t stream) {
  Span &span = spans.emplace_back();
  span.op = op;
  span.stream = stream;
  span.begin.record(stream);
}

void OpTimes::end(cudaStream_t stream) { spans.back().end.record(stream); }

OpTrace::Clock::time_point OpTimes::timeOf(const Event &event) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, origin.get(), event.get()),
        "timing an op");
  return start + std::chrono::duration_cast<OpTrace::Clock::duration>(
                     std::chrono::duration<double, std::milli>(milliseconds));
}

void OpTimes::report(RankTrace &trace, const RoundCounts &rounds) const {
  for (const Span &span : spans) {
    OpTrace &thread = span.stream == program ? trace.program : trace.background;
    thread.events.push_back(
        {span.op, timeOf(span.begin), timeOf(span.end), rounds.of(span.op)});
  }
}

} // namespace tessera::cuda
