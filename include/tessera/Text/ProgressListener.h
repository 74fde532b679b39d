//===- ProgressListener.h - what a long computation is doing ----*- C++ -*-===//

#ifndef TESSERA_TEXT_PROGRESSLISTENER_H
#define TESSERA_TEXT_PROGRESSLISTENER_H

#include <functional>
#include <string>

namespace tessera {

/// Is told what a long computation does next, in a line without a full stop.
/// It may be empty.
using Progress = std::function<void(const std::string &what)>;

} // namespace tessera

#endif // TESSERA_TEXT_PROGRESSLISTENER_H
