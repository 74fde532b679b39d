//===- Picture.cpp - a schedule as SVG ------------------------------------===//

#include "tessera/Schedule/Picture.h"
#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace tessera::pipeline {

namespace {

constexpr double kRow = 28, kGap = 6, kLeft = 70, kTop = 44;
/// Pixels: a box is wide enough for its number, the picture for a screen.
constexpr double kNarrowest = 18, kWidest = 1600;

std::string format(const char *pattern, ...)
    __attribute__((format(printf, 1, 2)));

std::string format(const char *pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

/// Hue by kind, lightness by the chunk's turn at its stage.
std::string colorOf(TaskKind kind, int64_t turn, int64_t turns) {
  static const int hues[] = {212, 28, 130};
  int64_t darker = turns > 1 ? 26 * turn / (turns - 1) : 0;
  return format("hsl(%d,65%%,%d%%)", hues[static_cast<int>(kind)],
                static_cast<int>(80 - darker));
}

std::string legend(const PipelineSchedule &schedule,
                   const Simulation &simulation) {
  const Shape &shape = schedule.shape;
  std::string text = format(
      "<text x=\"%g\" y=\"18\">%s: %lld stages x %lld chunks, %lld "
      "micro-batches, bubble %.1f %%</text>\n",
      kLeft, nameOf(schedule.kind), static_cast<long long>(shape.stages),
      static_cast<long long>(shape.virtualStages),
      static_cast<long long>(shape.microBatches), 100 * simulation.bubble);
  const char *names[] = {"forward",
                         schedule.splitsBackward() ? "backward of activations"
                                                   : "backward",
                         "gradients of parameters"};
  double x = kLeft;
  for (int k = 0; k < (schedule.splitsBackward() ? 3 : 2); ++k) {
    text += format("<rect x=\"%g\" y=\"25\" width=\"12\" height=\"12\" "
                   "fill=\"%s\"/><text x=\"%g\" y=\"35\">%s</text>\n",
                   x, colorOf(static_cast<TaskKind>(k), 0, 1).c_str(), x + 16,
                   names[k]);
    x += 40 + 7.0 * static_cast<double>(std::string(names[k]).size());
  }
  return text;
}

} // namespace

std::string drawSchedule(const PipelineSchedule &schedule,
                         const Simulation &simulation) {
  double shortest = simulation.length;
  for (const auto &[task, time] : simulation.tasks)
    shortest = std::min(shortest, time.end - time.begin);
  double scale = std::max(kWidest / simulation.length, kNarrowest / shortest);
  double rows = static_cast<double>(schedule.stages.size());
  double width = kLeft + scale * simulation.length + 10;
  double height = kTop + rows * (kRow + kGap) + 4;
  std::string text =
      format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
             "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
             "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
             width, height);
  text += legend(schedule, simulation);
  for (size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    double y = kTop + static_cast<double>(stage) * (kRow + kGap);
    text += format("<text x=\"6\" y=\"%g\">stage %zu</text>\n", y + 18, stage);
    for (const Task &task : schedule.stages[stage]) {
      const Interval &time = simulation.tasks.at(task);
      double x = kLeft + scale * time.begin;
      double w = scale * (time.end - time.begin);
      int64_t turn = task.chunk / schedule.shape.stages;
      text += format(
          "<rect x=\"%.2f\" y=\"%g\" width=\"%.2f\" height=\"%g\" fill=\"%s\" "
          "stroke=\"#555\" stroke-width=\"0.5\"><title>%s of chunk %lld, "
          "micro-batch %lld</title></rect><text x=\"%.2f\" y=\"%g\" "
          "text-anchor=\"middle\">%lld</text>\n",
          x, y, w, kRow,
          colorOf(task.kind, turn, schedule.shape.virtualStages).c_str(),
          taskKindName(task.kind), static_cast<long long>(task.chunk),
          static_cast<long long>(task.microBatch), x + w / 2, y + 18,
          static_cast<long long>(task.microBatch));
    }
  }
  return text + "</svg>\n";
}

} // namespace tessera::pipeline
