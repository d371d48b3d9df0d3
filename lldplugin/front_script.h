//===- front_script.h - the linker script that lays out a front ------------===//
//
// lld keeps its own layout, with all its rules about RELRO, TLS and orphans; a small script adds
// only what a front needs. A full SECTIONS script would have to repeat those rules, and get them
// wrong for some of the ways to link (-static, -static-pie and -z now broke).
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_FRONT_SCRIPT_H
#define FRONTLOAD_LLDPLUGIN_FRONT_SCRIPT_H

#include "startup_profile.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <string>

namespace frontload {

/// The output sections that hold the startup set's code and constants. What they leave behind stays
/// in .text and .rodata, which follow all other data; the first byte of these ends the front.
constexpr llvm::StringLiteral frontTextSection = ".text.front";
constexpr llvm::StringLiteral frontRodataSection = ".rodata.front";

/// The pattern that stands in the script for the startup sections of one class. No section has such
/// a name: the linker has to ask Frontload, not its own matcher, whether a section fits.
llvm::StringRef startupPattern(SectionClass c);

/// Which section classes the startup set may have sections of.
using ClassSet = std::array<bool, numSectionClasses>;

/// The script. It sorts startup sections by the linker's priority of their names, which is
/// first-touch order where the linker asks Frontload for it.
///
/// Every pattern makes the linker look at every input section of the link, so the script has no
/// pattern that it does not need: sections without one go where lld puts them by name.
std::string frontScript(const ClassSet &classes);

/// Whether a linker script decides where sections go, as SECTIONS and its like do. Such a script
/// and a front cannot both be had: each would take sections that the other one means to place.
bool decidesLayout(llvm::StringRef script);

} // namespace frontload

#endif
