//===- Table.cpp - aligned columns of text --------------------------------===//

#include "tools/tessera/report/Table.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace tessera;

static bool isNumber(const std::string &cell) {
  return !cell.empty() && cell[0] >= '0' && cell[0] <= '9';
}

std::string Table::str() const {
  std::vector<size_t> widths(rows.front().size());
  for (const auto &row : rows)
    for (size_t k = 0; k < row.size(); ++k)
      widths[k] = std::max(widths[k], row[k].size());
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t k = 0; k < rows[r].size(); ++k) {
      const std::string &cell = rows[r][k];
      std::string space(widths[k] - cell.size(), ' ');
      // A heading stands like the numbers below it.
      bool right = isNumber(r || rows.size() == 1 ? cell : rows[1][k]);
      line += "  " + (right ? space + cell : cell + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

static std::string scaled(double value, double base,
                          std::initializer_list<const char *> units) {
  auto unit = units.begin();
  while (value >= base && unit + 1 != units.end()) {
    value /= base;
    ++unit;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::format(unit == units.begin() ? "%.0f" : "%.1f", value) << " "
         << *unit;
  return llvm::StringRef(text).rtrim().str();
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
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (whole >= 3600)
    stream << whole / 3600 << ":" << llvm::format("%02d", int(whole / 60 % 60));
  else
    stream << whole / 60;
  stream << ":" << llvm::format("%02d", int(whole % 60));
  return text;
}
