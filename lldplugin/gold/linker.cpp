//===- linker.cpp - the linker that loaded the plugin ----------------------===//

#include "gold/linker.h"
#include "program/diagnostics.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstdlib>

using namespace llvm;

namespace frontload {

Linker::Linker(const ld_plugin_tv *calls) {
  for (; calls->tv_tag != LDPT_NULL; ++calls) {
    const auto &value = calls->tv_u;
    switch (calls->tv_tag) {
    case LDPT_OPTION:
      options.push_back(value.tv_string);
      break;
    case LDPT_OUTPUT_NAME:
      output = value.tv_string;
      break;
    case LDPT_LINKER_OUTPUT:
      outputType = static_cast<ld_plugin_output_file_type>(value.tv_val);
      break;
    case LDPT_MESSAGE:
      message = value.tv_message;
      break;
    case LDPT_REGISTER_CLAIM_FILE_HOOK:
      registerClaimFile = value.tv_register_claim_file;
      break;
    case LDPT_REGISTER_ALL_SYMBOLS_READ_HOOK:
      registerAllSymbolsRead = value.tv_register_all_symbols_read;
      break;
    case LDPT_REGISTER_CLEANUP_HOOK:
      registerCleanup = value.tv_register_cleanup;
      break;
    case LDPT_REGISTER_NEW_INPUT_HOOK:
      registerNewInput = value.tv_register_new_input;
      break;
    case LDPT_GET_SYMBOLS_V2:
      getSymbols = value.tv_get_symbols;
      break;
    case LDPT_ALLOW_SECTION_ORDERING:
      allowSectionOrdering = value.tv_allow_section_ordering;
      break;
    case LDPT_UPDATE_SECTION_ORDER:
      updateSectionOrder = value.tv_update_section_order;
      break;
    case LDPT_ALLOW_UNIQUE_SEGMENT_FOR_SECTIONS:
      allowUniqueSegment = value.tv_allow_unique_segment_for_sections;
      break;
    case LDPT_UNIQUE_SEGMENT_FOR_SECTIONS:
      uniqueSegment = value.tv_unique_segment_for_sections;
      break;
    default:
      break;
    }
  }
}

bool Linker::ordersSections() const {
  return registerClaimFile && registerAllSymbolsRead && registerCleanup && getSymbols &&
         allowSectionOrdering && updateSectionOrder && allowUniqueSegment && uniqueSegment;
}

void Linker::say(ld_plugin_level level, const Twine &text) const {
  message(level, "%s", (programName + ": " + text).str().c_str());
}

void Linker::fail(const Twine &text, const Twine &note) const {
  say(LDPL_FATAL, text + "\n" + programName + ": note: " + note);
  // By the rules of plugin-api.h the linker does not return from a fatal message.
  std::exit(EXIT_FAILURE);
}

} // namespace frontload
