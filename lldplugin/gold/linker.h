// The linker that loaded the plugin.
//
// A linker hands a plugin a list of its calls and of facts about the link (plugin-api.h). Here they
// have names. Only gold has the calls that tell it an order; GNU ld and mold have only the calls
// that link-time optimization needs.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <plugin-api.h>
#include <string>
#include <vector>

namespace frontload {

struct Linker {
  explicit Linker(const ld_plugin_tv *calls);

  /// Whether it can be told an order.
  bool ordersSections() const;

  /// Says one line.
  void say(ld_plugin_level level, const llvm::Twine &text) const;
  /// Says what is wrong and what to do, and ends the link.
  [[noreturn]] void fail(const llvm::Twine &text, const llvm::Twine &note) const;

  std::vector<llvm::StringRef> options;
  std::string output;
  /// The kind of output; LDPO_REL if it is an object.
  ld_plugin_output_file_type outputType = LDPO_EXEC;

  ld_plugin_message message = nullptr;
  ld_plugin_register_claim_file registerClaimFile = nullptr;
  ld_plugin_register_all_symbols_read registerAllSymbolsRead = nullptr;
  ld_plugin_register_cleanup registerCleanup = nullptr;
  ld_plugin_register_new_input registerNewInput = nullptr;
  ld_plugin_get_symbols getSymbols = nullptr;
  ld_plugin_allow_section_ordering allowSectionOrdering = nullptr;
  ld_plugin_update_section_order updateSectionOrder = nullptr;
  ld_plugin_allow_unique_segment_for_sections allowUniqueSegment = nullptr;
  /// Null if sections cannot have a segment of their own in this link.
  ld_plugin_unique_segment_for_sections uniqueSegment = nullptr;
};

} // namespace frontload
