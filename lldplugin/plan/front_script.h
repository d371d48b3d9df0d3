// The linker script that lays out a front.
//
// lld keeps its own layout, with all its rules about RELRO, TLS and orphans; a small script adds
// only what a front needs. A full SECTIONS script would have to repeat those rules, and get them
// wrong for some of the ways to link (-static, -static-pie and -z now broke).
#pragma once

#include "profile/startup_profile.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <string>
#include <vector>

namespace frontload {

/// The output sections that hold the startup set's constants and data. The rest stays in .rodata
/// and .data. The startup set's code begins .text: all code lies together, as crash reporters and
/// valgrind expect.
constexpr llvm::StringLiteral frontRodataSection = ".rodata.front";
constexpr llvm::StringLiteral frontDataSection = ".data.front";
/// The output section of the merged strings, between the front's constants and its code. It begins
/// with the strings of startup.
constexpr llvm::StringLiteral stringsSection = ".rodata.strings";
/// The output section that fills the last page before .bss. It begins with the size of the front's
/// code, in 8 bytes, which stripped files have too (scripts/frontload/elf/front.py).
constexpr llvm::StringLiteral paddingSection = ".data.padding";
/// A local symbol for that size. Its value is less than zero, so that no tool takes it for an
/// address: BOLT loops if an absolute symbol has that of code.
constexpr llvm::StringLiteral frontCodeSymbol = "__frontload_code_size";

/// Kinds of code, each with an output section .text.KIND if the linker keeps them apart.
constexpr llvm::StringLiteral codeKinds[] = {"hot",  "unknown",  "startup",
                                             "exit", "unlikely", "split"};

/// The patterns of the script, which say what goes where: the startup sections of a class, sections
/// that are likely to be used next, and all merged strings.
enum class Pattern : uint8_t { Rodata, Text, Relro, Data, Bss, Strings, NextText, NextRodata };
constexpr unsigned numPatterns = 8;

/// How a pattern is written in the script. No section has such a name: the linker has to ask
/// Frontload, not its own matcher, whether a section fits.
llvm::StringRef textOf(Pattern pattern);

/// Which patterns a script needs.
using PatternSet = std::array<bool, numPatterns>;

/// Output sections with names of their own that are to lie behind the front, by their contents.
struct OutputsBehind {
  std::vector<std::string> code, constants, data, zeros;
  /// Not wanted in the front, and yet left where the linker puts them.
  std::vector<std::string> unmoved;

  std::vector<std::string> all() const;
};

/// The script. It sorts startup sections by the linker's priority of their names, for which the
/// linker asks Frontload. The code begins at a multiple of `codeAlign`, unless that is 0. With
/// `copiesConstants`, the loader may copy constants of shared libraries into the output.
/// `dataIsFirst` is whether the front's data may lie before its constants, `prefetches` whether the
/// output asks for its front.
///
/// Every pattern makes the linker look at every input section of the link, so the script has no
/// pattern that it does not need: sections without one go where lld puts them by name.
///
/// Together with -z separate-loadable-segments it makes a *linear file*: the address of each byte
/// is its offset in the file and one constant. So .bss is the last section, the one before it ends
/// on a page, and sections without contents lie before others or at the end.
std::string frontScript(const PatternSet &patterns, uint64_t codeAlign = 0,
                        bool copiesConstants = false, bool dataIsFirst = true,
                        bool prefetches = false);

/// The script of the symbols that are no longer where lld would put them. A linker may have to read
/// it before sections are known, so it is separate.
std::string symbolsScript();

/// Another script, to be read after frontScript(), that moves `behind`; empty if there is nothing.
std::string behindScript(const OutputsBehind &behind);

} // namespace frontload
