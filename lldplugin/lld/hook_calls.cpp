//===- hook_calls.cpp - whether lld calls what a front relies on -----------===//

#include "lld/hook_calls.h"
#include "elf/elf_file.h"
#include "lld/Common/ErrorHandler.h"
#include "program/diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"

using namespace llvm;

namespace frontload {

HookCalls hookCalls;

/// lld's name of the function.
static StringRef nameOf(Hook hook) {
  static constexpr StringLiteral names[numHooks] = {"readFile",
                                                    "createObjFile",
                                                    "parseFiles",
                                                    "splitSections",
                                                    "xxh3_64bits",
                                                    "LinkerScript::processSectionCommands",
                                                    "StringMatcher::match",
                                                    "getPriority",
                                                    "FileOutputBuffer::create",
                                                    "unlinkAsync"};
  return names[static_cast<unsigned>(hook)];
}

/// Ends the link because lld has `what` the function, such as "not called".
[[noreturn]] static void end(Hook hook, const Twine &what) {
  error("this lld has " + what + " " + nameOf(hook) + ", on which the front relies",
        "link without --startup-profile; ld.frontload has to be built with an lld that "
        "docs/lld-hooks.md fits");
  lld::exitLld(exitVerdict);
}

void HookCalls::endWithout(Hook hook) { end(hook, "not called"); }

void HookCalls::require(Hook hook) const {
  if (!has(hook))
    endWithout(hook);
}

void HookCalls::requireOnce(Hook hook) const {
  require(hook);
  if (number(hook) != 1)
    end(hook, Twine(number(hook)) + " times called");
}

/// Whether the linked file has a section of merged strings, with those of startup. Its flags say
/// that it is merged only if all its input sections can be.
static bool mergesStrings(StringRef bytes) {
  bool result = false;
  consumeError(withElfFile(bytes, [&](const auto &file) -> Error {
    auto sections = file.sections();
    if (!sections)
      return sections.takeError();
    for (const auto &section : *sections) {
      auto name = file.getSectionName(section);
      if (!name)
        return name.takeError();
      constexpr uint64_t flags = ELF::SHF_MERGE | ELF::SHF_STRINGS;
      result |= *name == stringsSection && section.sh_size && (section.sh_flags & flags) == flags;
    }
    return Error::success();
  }));
  return result;
}

void HookCalls::requireForOutput(FrontLink &link, StringRef bytes) const {
  requireOnce(Hook::ProcessSectionCommands); // the hook itself requires those before it
  if (link.gathersStrings() && !link.hotStrings().contents().empty() && mergesStrings(bytes))
    require(Hook::Hash);
}

} // namespace frontload
