//===- TokenizeOptions.h - which texts become tokens, and how ---*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TOKENIZE_TOKENIZEOPTIONS_H
#define TESSERA_TOOLS_TESSERA_TOKENIZE_TOKENIZEOPTIONS_H

#include <string>
#include <vector>

namespace tessera {

struct TokenizeOptions {
  std::vector<std::string> texts; ///< Files; "-": standard input.
  std::string tokenizer;          ///< A folder, or the file in it.
  std::string model;              ///< Its vocabulary must fit.
  std::string documents = "auto", jsonKey = "text", format = "auto";
  bool appendsEnd = false;
  bool isStrict = false; ///< Refuses texts and lines that are empty.
  std::string endToken;  ///< "": what the folder says.
  bool addsSpecial = true;
  std::string output;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TOKENIZE_TOKENIZEOPTIONS_H
