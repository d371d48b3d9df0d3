//===- option_parser.h - options that LLVM parses for us -------------------===//
//
// LLVM's CommandLine reports problems in its own form: the program's name, the problem, advice, and
// perhaps what could have been meant. Our programs use our own form.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROGRAM_OPTION_PARSER_H
#define FRONTLOAD_LLDPLUGIN_PROGRAM_OPTION_PARSER_H

#include "program/diagnostics.h"
#include "llvm/Support/CommandLine.h"
#include <optional>

namespace frontload {

/// Parses the options of `category`, which alone --help shows, below `overview`. Returns what is
/// wrong with them.
std::optional<Refusal> parseProgramOptions(int argc, char **argv,
                                           llvm::cl::OptionCategory &category,
                                           llvm::StringRef overview);

} // namespace frontload

#endif
