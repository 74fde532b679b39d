//===- DataSeeds.cpp - files of tokens, and those that are refused --------===//
#include "test/Fuzz/Runtime/Seeds.h"

#include <climits>
#include <cstdint>

using namespace seeds;

namespace {

template <class Integer> std::string tokensOf() {
  std::string tokens;
  for (int i = 0; i < 40; ++i)
    tokens += bytesOf(static_cast<Integer>(i));
  return tokens;
}

std::string llmcHeader(int32_t magic, int32_t version) {
  int32_t header[256] = {magic, version, 40};
  return bytesOf(header);
}

/// An index of Megatron data: two documents, the first of two sequences.
struct MegatronSeed {
  uint64_t version = 1;
  uint8_t type = 8;
  int64_t sequences = 3, entries = 3;
  int32_t lengths[3] = {1, 2, 4};
  int64_t begins[3] = {0, 2, 6}, documents[3] = {0, 2, 3};

  std::string bytes() const {
    return std::string("MMIDIDX\0\0", 9) + bytesOf(version) + bytesOf(type) +
           bytesOf(sequences) + bytesOf(entries) + bytesOf(lengths) +
           bytesOf(begins) + bytesOf(documents);
  }
};

void seedIndex(const std::string &name, const std::string &index,
               uint16_t tokenBytes = 14) {
  seed("MegatronIndex", name, bytesOf(tokenBytes) + index);
}

void writeMegatronTypes() {
  seedIndex("uint16", MegatronSeed().bytes());
  for (uint8_t type : {0, 1, 3, 4, 5, 7, 9}) {
    MegatronSeed typed;
    typed.type = type;
    int64_t width = type == 1 ? 1 : type == 4 ? 4 : type == 5 ? 8 : 2;
    for (int64_t &begin : typed.begins)
      begin = begin / 2 * width;
    seedIndex("type-" + std::to_string(type), typed.bytes(), 7 * width);
  }
}

void writeMegatron() {
  writeMegatronTypes();
  const MegatronSeed good;
  std::string bytes = good.bytes();
  seedIndex("torn", bytes.substr(0, bytes.size() - 1));
  seedIndex("only-magic", bytes.substr(0, 9));
  seedIndex("modes", bytes + std::string(3, '\0'));
  seedIndex("other-tokens", bytes, 13);
  auto changed = [&](const std::string &name, auto &&change) {
    MegatronSeed other;
    change(other);
    seedIndex(name, other.bytes());
  };
  changed("version", [](MegatronSeed &s) { s.version = 2; });
  changed("negative-count", [](MegatronSeed &s) { s.sequences = -1; });
  changed("negative-length", [](MegatronSeed &s) { s.lengths[1] = -2; });
  changed("gap", [](MegatronSeed &s) { s.begins[2] = 8; });
  changed("beyond", [](MegatronSeed &s) { s.lengths[2] = INT32_MAX; });
  changed("empty-document", [](MegatronSeed &s) { s.documents[1] = 0; });
  changed("descending", [](MegatronSeed &s) { s.documents[1] = -1; });
  changed("too-few-documents", [](MegatronSeed &s) { s.documents[2] = 2; });
}

enum DataFormat {
  Auto,
  Text,
  Uint16,
  Uint32,
  Llmc,
  HasTwo = 8,
  Weighted = 16,
  Split = 32,
  Validation = 64,
  Wrong = 128
};

/// Returns the options before a file: sequences of 4 and a vocabulary of 64.
std::string dataOptions(int format, int sequence = 4, int target = 0) {
  std::string bytes;
  for (int byte : {format, sequence, target, 64, 0})
    bytes.push_back(static_cast<char>(byte));
  return bytes;
}

std::string numpyHeader(std::string dictionary) {
  dictionary.resize(117, ' ');
  return std::string("\x93NUMPY\1\0\x76\0", 10) + dictionary + "\n";
}

void writeReadableData() {
  std::string narrow = tokensOf<uint16_t>(), wide = tokensOf<uint32_t>();
  std::string text = "To be, or not to be: that is";
  seed("Data", "text", dataOptions(Text) + text);
  seed("Data", "auto", dataOptions(Auto) + text);
  seed("Data", "uint16", dataOptions(Uint16) + narrow);
  seed("Data", "uint32", dataOptions(Uint32) + wide);
  seed("Data", "pairs-in-two-files",
       dataOptions(Uint16 + HasTwo, 4, 3) + narrow);
  seed("Data", "llmc", dataOptions(Llmc) + llmcHeader(20240520, 1) + narrow);
  seed("Data", "llmc-uint32",
       dataOptions(Auto) + llmcHeader(20240801, 7) + wide);
  seed("Data", "numpy",
       dataOptions(Auto) +
           numpyHeader("{'descr': '<u4', 'fortran_order': False, 'shape': "
                       "(40,), }") +
           wide);
}

void writeSplitData() {
  std::string narrow = tokensOf<uint16_t>();
  seed("Data", "weighted", dataOptions(Uint16 + HasTwo + Weighted) + narrow);
  seed("Data", "training", dataOptions(Uint16 + HasTwo + Split) + narrow);
  seed("Data", "validation",
       dataOptions(Uint16 + Weighted + Split + Validation) + narrow);
  seed("Data", "no-validation", dataOptions(Uint16 + Validation) + narrow);
  seed("Data", "validation-too-short",
       dataOptions(Uint16 + Split, 20) + narrow);
  constexpr int all = Uint16 + HasTwo + Weighted + Split + Wrong;
  auto wrong = [&](const std::string &name, char what) {
    seed("Data", name, dataOptions(all) + what + narrow);
  };
  wrong("file-twice", 1);
  wrong("weight-negative", 2);
  wrong("weight-small", 4);
  wrong("weights-zero", 8);
  wrong("fraction", 16);
}

void writeRefusedData() {
  std::string narrow = tokensOf<uint16_t>(), wide = tokensOf<uint32_t>();
  std::string gzip("\x1F\x8B\x08\0\0\0\0\0\0\x03", 10);
  std::string arrow("\xFF\xFF\xFF\xFF\x10\0\0\0", 8);
  seed("Data", "llmc-torn", dataOptions(Llmc) + llmcHeader(20240520, 1));
  seed("Data", "llmc-version", dataOptions(Llmc) + llmcHeader(20240520, 2));
  seed("Data", "llmc-as-uint16",
       dataOptions(Uint16) + llmcHeader(20240520, 1) + narrow);
  seed("Data", "odd", dataOptions(Uint16) + narrow + "x");
  seed("Data", "too-few", dataOptions(Uint16, 100) + narrow);
  seed("Data", "uint32-as-uint16", dataOptions(Uint16) + wide);
  seed("Data", "uint16-as-uint32", dataOptions(Uint32) + narrow);
  seed("Data", "not-text", dataOptions(Auto) + narrow);
  seed("Data", "text-as-uint16", dataOptions(Uint16) + std::string(80, 'a'));
  seed("Data", "numpy-torn",
       dataOptions(Auto) + numpyHeader("{}").substr(0, 40));
  seed("Data", "numpy-other", dataOptions(Auto) + numpyHeader("{}") + narrow);
  seed("Data", "megatron-index", dataOptions(Auto) + MegatronSeed().bytes());
  seed("Data", "gzip", dataOptions(Auto) + gzip + narrow);
  seed("Data", "arrow", dataOptions(Auto) + arrow + narrow);
  seed("Data", "parquet", dataOptions(Auto) + "PAR1" + narrow);
}

void writeRefusedHeaders() {
  std::string wide = tokensOf<uint32_t>();
  const char *tooLong = "{'descr': '<u4', 'fortran_order': False, 'shape': "
                        "(50,), }";
  seed("Data", "numpy-too-few",
       dataOptions(Auto) + numpyHeader(tooLong) + wide);
  seed("Data", "numpy-magic", dataOptions(Auto) + numpyHeader("").substr(0, 8));
}

/// Tokens of another kind, and ids that the vocabulary does not have.
void writeRefusedTokens() {
  seed("Data", "int64-as-uint32", dataOptions(Uint32) + tokensOf<int64_t>());
  std::string text, bigEndian, high;
  for (int i = 0; i < 40; ++i) {
    text += "\xC3\xA9\xE3\x81\x82\xF0\x9F\x98\x80 ";
    bigEndian += {'\0', static_cast<char>(i)};
    high += "\x64\xC8";
  }
  seed("Data", "utf-8-as-uint16", dataOptions(Uint16) + text);
  seed("Data", "big-endian", dataOptions(Uint16) + bigEndian);
  seed("Data", "high", dataOptions(Uint16) + high);
  seed("Data", "high-bytes", dataOptions(Auto) + high);
  seed("Data", "negative",
       dataOptions(Uint32) + std::string(160, '\xFF') + "\1\1\1\1");
  seed("Data", "no-sequence", dataOptions(Uint16, 0) + high);
}

} // namespace

void seeds::writeData() {
  writeMegatron();
  writeReadableData();
  writeSplitData();
  writeRefusedData();
  writeRefusedHeaders();
  writeRefusedTokens();
}
