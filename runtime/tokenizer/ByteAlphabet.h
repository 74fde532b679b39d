//===- ByteAlphabet.h - bytes as characters that can be seen ----*- C++ -*-===//
// GPT-2 writes each byte of its tokens as a character of one or two bytes
// (Radford et al. 2019, encoder.py: bytes_to_unicode).
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_TOKENIZER_BYTEALPHABET_H
#define TESSERA_RUNTIME_TOKENIZER_BYTEALPHABET_H

#include <string>
#include <string_view>

namespace tessera {

std::string_view characterOfByte(unsigned char byte);
void appendCharacters(std::string &out, std::string_view bytes);
/// Appends the bytes that `characters` stand for; false, and `out` as it was,
/// if one stands for none.
bool appendBytes(std::string &out, std::string_view characters);

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_BYTEALPHABET_H
