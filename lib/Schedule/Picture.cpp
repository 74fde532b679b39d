//===- Picture.cpp - a schedule as SVG ------------------------------------===//

#include "tessera/Schedule/Picture.h"
#include "tessera/Options/Counted.h"
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace tessera::pipeline {

namespace {

/// Pixels.
constexpr double kLeft = 70, kRight = 10, kTop = 24, kLine = 20;
/// Height of a stage, its gap, and the gap of bands.
constexpr double kRow = 22, kGap = 4, kBandGap = 22;
/// Width of a digit, and space around a number.
constexpr double kDigit = 7, kAround = 6;
/// A timeline of this width fits a screen; a longer one goes on below, as far
/// as the picture does not get too tall.
constexpr double kWidest = 1600, kTallest = 2000;

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

class Picture {
public:
  Picture(const PipelineSchedule &schedule, const Simulation &simulation);
  std::string draw();

private:
  void chooseScale();
  int64_t turns() const { return schedule.shape.virtualStages; }
  double bandHeight() const {
    return static_cast<double>(schedule.stages.size()) * (kRow + kGap);
  }
  double labelWidth(int64_t number) const {
    return kDigit * static_cast<double>(std::to_string(number).size()) +
           kAround;
  }
  void addTitle();
  void addLegend(int64_t turn);
  void addStageNames();
  void addTask(const Task &task, size_t stage);

  const PipelineSchedule &schedule;
  const Simulation &simulation;
  double scale = 1;  ///< Pixels of a unit of time.
  double bands = 1;  ///< Lines into which the timeline is broken.
  double width = 0;  ///< Width of a band.
  double legend = 0; ///< Height of what is above the bands.
  std::string text;
};

Picture::Picture(const PipelineSchedule &schedule, const Simulation &simulation)
    : schedule(schedule), simulation(simulation),
      legend(kTop + kLine * static_cast<double>(turns()) + 10) {
  chooseScale();
}

/// Wide enough for the numbers of most tasks, if that is not too long: an
/// embedding alone may be a chunk that takes next to no time.
void Picture::chooseScale() {
  std::vector<double> times;
  for (const auto &[task, time] : simulation.tasks)
    times.push_back(time.end - time.begin);
  auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 4);
  std::nth_element(times.begin(), middle, times.end());
  double most = std::max(
      1.0, std::floor((kTallest - legend) / (bandHeight() + kBandGap)));
  double readable = labelWidth(schedule.shape.microBatches - 1) / *middle;
  double length = readable * simulation.length;
  bands = std::clamp(std::ceil(length / kWidest), 1.0, most);
  scale = bands * kWidest / simulation.length;
  width = kWidest;
}

void Picture::addTitle() {
  const Shape &shape = schedule.shape;
  text +=
      format("<text x=\"%g\" y=\"16\">%s: %lld stages of %s, %s, "
             "bubble %.1f %%%s</text>\n",
             kLeft, nameOf(schedule.kind), static_cast<long long>(shape.stages),
             counted(shape.virtualStages, "chunk").c_str(),
             counted(shape.microBatches, "micro-batch").c_str(),
             100 * simulation.bubble,
             bands > 1 ? "; time goes on from line to line" : "");
}

/// Adds the colors of the chunks that stages have at this turn.
void Picture::addLegend(int64_t turn) {
  const char *names[] = {"forward",
                         schedule.splitsBackward() ? "backward of activations"
                                                   : "backward",
                         "gradients of parameters"};
  double x = kLeft, y = kTop + kLine * static_cast<double>(turn);
  for (int k = 0; k < (schedule.splitsBackward() ? 3 : 2); ++k) {
    text +=
        format("<rect x=\"%g\" y=\"%g\" width=\"12\" height=\"12\" "
               "fill=\"%s\"/><text x=\"%g\" y=\"%g\">%s</text>\n",
               x, y, colorOf(static_cast<TaskKind>(k), turn, turns()).c_str(),
               x + 16, y + 10, names[k]);
    x += 40 + kDigit * static_cast<double>(std::string(names[k]).size());
  }
  if (turns() > 1)
    text +=
        format("<text x=\"%g\" y=\"%g\">chunks %lld to %lld</text>\n", x,
               y + 10, static_cast<long long>(turn * schedule.shape.stages),
               static_cast<long long>((turn + 1) * schedule.shape.stages - 1));
}

void Picture::addStageNames() {
  for (double band = 0; band < bands; ++band)
    for (size_t stage = 0; stage < schedule.stages.size(); ++stage)
      text += format("<text x=\"6\" y=\"%g\">stage %zu</text>\n",
                     legend + band * (bandHeight() + kBandGap) +
                         static_cast<double>(stage) * (kRow + kGap) + 15,
                     stage);
}

/// Adds a box, or two if a line ends within the task; the number where it fits.
void Picture::addTask(const Task &task, size_t stage) {
  const Interval &time = simulation.tasks.at(task);
  double begin = scale * time.begin, end = scale * time.end;
  std::string color =
      colorOf(task.kind, task.chunk / schedule.shape.stages, turns());
  auto first = std::min(std::floor(begin / width), bands - 1);
  for (double band = first; band < bands && begin < end; ++band) {
    double stop = band + 1 < bands ? std::min(end, (band + 1) * width) : end;
    double x = kLeft + begin - band * width, w = stop - begin;
    double y = legend + band * (bandHeight() + kBandGap) +
               static_cast<double>(stage) * (kRow + kGap);
    text += format("<rect x=\"%.2f\" y=\"%g\" width=\"%.2f\" height=\"%g\" "
                   "fill=\"%s\" stroke=\"#555\" stroke-width=\"0.5\">",
                   x, y, w, kRow, color.c_str());
    text += format("<title>%s of chunk %lld, micro-batch %lld</title></rect>",
                   taskKindName(task.kind), static_cast<long long>(task.chunk),
                   static_cast<long long>(task.microBatch));
    if (w >= labelWidth(task.microBatch) - kAround / 2)
      text +=
          format("<text x=\"%.2f\" y=\"%g\" text-anchor=\"middle\">%lld"
                 "</text>",
                 x + w / 2, y + 15, static_cast<long long>(task.microBatch));
    text += "\n";
    begin = stop;
  }
}

std::string Picture::draw() {
  double height = legend + bands * (bandHeight() + kBandGap);
  text = format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
                "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                kLeft + width + kRight, height);
  addTitle();
  for (int64_t turn = 0; turn < turns(); ++turn)
    addLegend(turn);
  addStageNames();
  for (size_t stage = 0; stage < schedule.stages.size(); ++stage)
    for (const Task &task : schedule.stages[stage])
      addTask(task, stage);
  return text + "</svg>\n";
}

} // namespace

std::string drawSchedule(const PipelineSchedule &schedule,
                         const Simulation &simulation) {
  return Picture(schedule, simulation).draw();
}

} // namespace tessera::pipeline
