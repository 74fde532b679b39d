//===- Table.h - aligned columns of text ------------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_REPORT_TABLE_H
#define TESSERA_TOOLS_TESSERA_REPORT_TABLE_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// Left-aligned columns; cells that start with a digit are right-aligned.
class Table {
public:
  explicit Table(std::vector<std::string> header) : rows{std::move(header)} {}
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  bool empty() const { return rows.size() == 1; }
  std::string str() const;

private:
  std::vector<std::vector<std::string>> rows;
};

/// 1536 -> "1.5 KiB".
std::string bytesText(int64_t bytes);
/// 124439808 -> "124.4 M".
std::string countText(double count);
/// 83 -> "1:23"; 3723 -> "1:02:03".
std::string durationText(double seconds);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_REPORT_TABLE_H
