//===- EventFile.cpp - curves for TensorBoard -----------------------------===//

#include "tools/tessera/train/EventFile.h"
#include "tools/tessera/output/PrintError.h"
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace tessera;

//===----------------------------------------------------------------------===//
// Records: length, its checksum, content, its checksum (tsl/lib/io)
//===----------------------------------------------------------------------===//

/// Computes CRC-32C (Castagnoli), bit by bit reversed.
static uint32_t checksumOf(const std::string &bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> entries{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t crc = byte;
      for (int bit = 0; bit < 8; ++bit)
        crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
      entries[byte] = crc;
    }
    return entries;
  }();
  uint32_t crc = 0xFFFFFFFF;
  for (char byte : bytes)
    crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

/// Masked, as checksums of checksums would be poor.
static uint32_t maskedChecksumOf(const std::string &bytes) {
  uint32_t crc = checksumOf(bytes);
  return (crc >> 15 | crc << 17) + 0xA282EAD8;
}

template <typename T> static std::string bytesOf(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Events in the wire format of protocol buffers
//===----------------------------------------------------------------------===//

static std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

enum WireType { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

static std::string key(int field, WireType type) {
  return varint(static_cast<uint64_t>(field) << 3 | type);
}

static std::string field(int number, const std::string &bytes) {
  return key(number, Bytes) + varint(bytes.size()) + bytes;
}

/// wall_time = 1.
static std::string timeField() {
  std::chrono::duration<double> now =
      std::chrono::system_clock::now().time_since_epoch();
  return key(1, Fixed64) + bytesOf(now.count());
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

bool EventFile::open(const std::string &directory) {
  if (directory.empty())
    return true;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return !printError("cannot make '" + directory + "': " + error.message());
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::chrono::seconds now = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  path = directory + "/events.out.tfevents." + std::to_string(now.count()) +
         "." + host + "." + std::to_string(getpid());
  // "x": nobody's file or link is at a name that can be foreseen.
  file.reset(std::fopen(path.c_str(), "wx"));
  if (!file)
    return !printError("cannot write '" + path + "': " + std::strerror(errno));
  // file_version = 3.
  return writeRecord(timeField() + field(3, "brain.Event:2"));
}

bool EventFile::write(const std::string &tag, int64_t step, double value) {
  if (!file)
    return true;
  // Summary.Value: tag = 1, simple_value = 2; Summary: value = 1.
  std::string scalar =
      field(1, tag) + key(2, Fixed32) + bytesOf(static_cast<float>(value));
  // step = 2, summary = 5.
  return writeRecord(timeField() + key(2, Varint) +
                     varint(static_cast<uint64_t>(step)) +
                     field(5, field(1, scalar)));
}

bool EventFile::writeRecord(const std::string &event) {
  std::string length = bytesOf(static_cast<uint64_t>(event.size()));
  std::string record = length + bytesOf(maskedChecksumOf(length)) + event +
                       bytesOf(maskedChecksumOf(event));
  if (std::fwrite(record.data(), 1, record.size(), file.get()) ==
          record.size() &&
      std::fflush(file.get()) == 0)
    return true;
  return !printError("cannot write '" + path + "': " + std::strerror(errno));
}
