//===- Table.cpp - aligned columns of text --------------------------------===//

#include "tessera/Text/Table.h"
#include "tessera/Text/TextWrap.h"
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <optional>
#include <sstream>

using namespace tessera;

static bool isNumber(const std::string &cell) {
  return !cell.empty() && cell[0] >= '0' && cell[0] <= '9';
}

static constexpr size_t kGap = 2;

std::vector<size_t> Table::widthsOf() const {
  std::vector<size_t> widths(rows.front().size());
  for (const Cells &row : rows)
    for (size_t k = 0; k < row.size(); ++k)
      widths[k] = std::max(widths[k], row[k].size());
  return widths;
}

std::vector<size_t> Table::columnsFor(size_t width,
                                      std::vector<size_t> &widths) const {
  const Cells &titles = rows.front();
  std::vector<size_t> columns(titles.size());
  std::iota(columns.begin(), columns.end(), 0);
  auto next = optional.begin();
  while (true) {
    size_t needed = 0;
    std::optional<size_t> wraps;
    for (size_t column : columns) {
      needed += kGap + widths[column];
      if (titles[column] == wrapping)
        wraps = column;
    }
    if (needed <= width)
      return columns;
    size_t excess = needed - width;
    bool fits = wraps && widths[*wraps] >= least + excess;
    if (fits)
      widths[*wraps] -= excess;
    else if (wraps && next == optional.end())
      widths[*wraps] = std::min(widths[*wraps], least);
    if (fits || next == optional.end())
      return columns;
    size_t column =
        std::find(titles.begin(), titles.end(), *next++) - titles.begin();
    columns.erase(std::remove(columns.begin(), columns.end(), column),
                  columns.end());
  }
}

std::vector<std::string> Table::leftOut(size_t width) const {
  std::vector<size_t> widths = widthsOf();
  std::vector<size_t> columns = columnsFor(width, widths);
  std::vector<std::string> titles;
  for (size_t k = 0; k < rows.front().size(); ++k)
    if (std::find(columns.begin(), columns.end(), k) == columns.end())
      titles.push_back(rows.front()[k]);
  return titles;
}

/// One row, in as many lines as the cell that wraps has.
std::string Table::line(const Cells &cells, const std::vector<size_t> &columns,
                        const std::vector<size_t> &widths, size_t row) const {
  std::vector<std::string> lines(1);
  for (size_t column : columns) {
    std::vector<std::string> parts =
        wrapLines(cells[column], std::max<size_t>(widths[column], 1));
    // A heading stands like the numbers below it.
    const Cells &sample = row || rows.size() == 1 ? cells : rows[1];
    bool right = isNumber(sample[column]);
    size_t before = lines.front().size();
    lines.resize(std::max(lines.size(), parts.size()));
    for (size_t k = 0; k < lines.size(); ++k) {
      std::string part = k < parts.size() ? parts[k] : "";
      std::string space(widths[column] - part.size(), ' ');
      lines[k].resize(before + kGap, ' ');
      lines[k] += right ? space + part : part + space;
    }
  }
  std::string text;
  for (std::string &each : lines) {
    each.erase(each.find_last_not_of(' ') + 1);
    text += each + "\n";
  }
  return text;
}

std::string Table::str(size_t width) const {
  std::vector<size_t> widths = widthsOf();
  std::vector<size_t> columns = columnsFor(width, widths);
  std::string text;
  for (size_t row = 0; row < rows.size(); ++row)
    text += line(rows[row], columns, widths, row);
  std::string titles;
  for (const std::string &title : leftOut(width))
    titles += (titles.empty() ? "" : ", ") + title;
  if (!titles.empty())
    text += "  (" +
            wrapBlock("without " + titles + ": --wide shows all)", width, 3) +
            "\n";
  return text;
}

static std::string scaled(double value, double base,
                          std::initializer_list<const char *> units) {
  auto unit = units.begin();
  while (value >= base && unit + 1 != units.end()) {
    value /= base;
    ++unit;
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(unit == units.begin() ? 0 : 1)
       << value;
  return **unit ? text.str() + " " + *unit : text.str();
}

std::string tessera::bytesText(int64_t bytes) {
  return scaled(static_cast<double>(bytes), 1024,
                {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string tessera::countText(double count) {
  return scaled(count, 1000, {"", "k", "M", "G", "T", "P", "E"});
}

std::string tessera::durationText(double seconds) {
  auto whole = static_cast<int64_t>(std::llround(std::max(0.0, seconds)));
  auto twoDigits = [](int64_t count) {
    return (count < 10 ? "0" : "") + std::to_string(count);
  };
  std::string minutes = whole >= 3600 ? std::to_string(whole / 3600) + ":" +
                                            twoDigits(whole / 60 % 60)
                                      : std::to_string(whole / 60);
  return minutes + ":" + twoDigits(whole % 60);
}
