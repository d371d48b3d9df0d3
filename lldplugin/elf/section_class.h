// The kinds of sections in a front.
//
// Profiles, plans and reports sort the parts of a program into five classes. Only this file decides
// which class a section belongs to, by its type, flags and name.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace frontload {

/// The section classes that a front is made of, in the order in which they lie in the file.
enum class SectionClass : uint8_t { Rodata, Text, Relro, Data, Bss };
constexpr unsigned numSectionClasses = 5;

/// The name of a class as it stands in profiles and reports: "rodata", "text", ...
llvm::StringRef toString(SectionClass c);

/// The class of that name, if there is one.
std::optional<SectionClass> parseSectionClass(llvm::StringRef name);

/// Whether a section's name is `stem`, or begins with `stem` and a dot.
bool hasStem(llvm::StringRef name, llvm::StringRef stem);

/// The class of an input section by its flags and name, if it is one that can be moved to the
/// front: code in .text*, constants in .rodata*, relocated constants in .data.rel.ro*, data in
/// .data*, zeros in .bss*. Sections with a meaning of their own (.init_array, C-identifier names)
/// are not.
std::optional<SectionClass> classifySection(llvm::StringRef name, uint32_t type, uint64_t flags);

/// The same for a linked file, where every loaded section has a class, whatever its name.
std::optional<SectionClass> classifyLinkedSection(uint32_t type, uint64_t flags);

} // namespace frontload
