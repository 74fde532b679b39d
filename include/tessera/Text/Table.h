//===- Table.h - aligned columns of text ------------------------*- C++ -*-===//

#ifndef TESSERA_TEXT_TABLE_H
#define TESSERA_TEXT_TABLE_H

#include "tessera/printable.hpp"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// Left-aligned columns; cells that start with a digit are right-aligned.
class Table {
public:
  explicit Table(std::vector<std::string> header) : rows{std::move(header)} {}
  /// A cell is a line, whatever the name of a tensor in it is.
  void add(std::vector<std::string> row) {
    for (std::string &cell : row)
      cell = printable(cell);
    rows.push_back(std::move(row));
  }
  bool empty() const { return rows.size() == 1; }
  /// Names columns without which a narrow table does, the least important
  /// first.
  void mayLeaveOut(std::vector<std::string> titles) {
    optional = std::move(titles);
  }
  /// A column of words or names, which may be broken into lines of no fewer
  /// than `narrowest` characters.
  void mayWrap(const std::string &title, size_t narrowest) {
    wrapping = title;
    least = narrowest;
  }
  /// Lines of at most `width` characters, as far as the columns allow, and one
  /// that names the columns that are left out.
  std::string str(size_t width = kAnyWidth) const;
  /// Titles of the columns that `str` leaves out.
  std::vector<std::string> leftOut(size_t width) const;

  static constexpr size_t kAnyWidth = ~size_t(0);

private:
  using Cells = std::vector<std::string>;
  std::vector<size_t> widthsOf() const;
  /// Numbers of columns that fit, and what is left for the one that wraps.
  std::vector<size_t> columnsFor(size_t width,
                                 std::vector<size_t> &widths) const;
  std::string line(const Cells &cells, const std::vector<size_t> &columns,
                   const std::vector<size_t> &widths, size_t row) const;

  std::vector<Cells> rows;
  std::vector<std::string> optional;
  std::string wrapping;
  size_t least = 0;
};

/// 1536 -> "1.5 KiB".
std::string bytesText(int64_t bytes);
/// 124439808 -> "124.4 M".
std::string countText(double count);
/// 83 -> "1:23"; 3723 -> "1:02:03".
std::string durationText(double seconds);

} // namespace tessera

#endif // TESSERA_TEXT_TABLE_H
