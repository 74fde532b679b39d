//===- DataWeights.h - FILE:WEIGHT on the command line ----------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_DATAWEIGHTS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_DATAWEIGHTS_H

#include <string>
#include <vector>

namespace tessera {

/// Takes the weights off the names: what follows the last colon of a name, if
/// it is a number and no file has the whole name. `weights` is empty if no name
/// has one. Returns what is wrong, or "".
std::string takeWeights(std::vector<std::string> &names,
                        std::vector<double> &weights);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_DATAWEIGHTS_H
