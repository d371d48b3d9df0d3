// The linker that loaded the plugin.
#include "gold/linker.h"
#include "program/diagnostics.h"
#include <cstdlib>
#include <type_traits>

using namespace llvm;

namespace frontload {

Linker::Linker(const ld_plugin_tv *calls) {
  using Value = decltype(calls->tv_u);
  for (; calls->tv_tag != LDPT_NULL; ++calls) {
    auto take = [&](ld_plugin_tag tag, auto &to, auto Value::*from) {
      if (calls->tv_tag == tag)
        to = static_cast<std::remove_reference_t<decltype(to)>>(calls->tv_u.*from);
    };
    if (calls->tv_tag == LDPT_OPTION)
      options.push_back(calls->tv_u.tv_string);
    take(LDPT_OUTPUT_NAME, output, &Value::tv_string);
    take(LDPT_LINKER_OUTPUT, outputType, &Value::tv_val);
    take(LDPT_MESSAGE, message, &Value::tv_message);
    take(LDPT_REGISTER_CLAIM_FILE_HOOK, registerClaimFile, &Value::tv_register_claim_file);
    take(LDPT_REGISTER_ALL_SYMBOLS_READ_HOOK, registerAllSymbolsRead,
         &Value::tv_register_all_symbols_read);
    take(LDPT_REGISTER_CLEANUP_HOOK, registerCleanup, &Value::tv_register_cleanup);
    take(LDPT_REGISTER_NEW_INPUT_HOOK, registerNewInput, &Value::tv_register_new_input);
    take(LDPT_GET_SYMBOLS_V2, getSymbols, &Value::tv_get_symbols);
    take(LDPT_ALLOW_SECTION_ORDERING, allowSectionOrdering, &Value::tv_allow_section_ordering);
    take(LDPT_UPDATE_SECTION_ORDER, updateSectionOrder, &Value::tv_update_section_order);
    take(LDPT_ALLOW_UNIQUE_SEGMENT_FOR_SECTIONS, allowUniqueSegment,
         &Value::tv_allow_unique_segment_for_sections);
    take(LDPT_UNIQUE_SEGMENT_FOR_SECTIONS, uniqueSegment, &Value::tv_unique_segment_for_sections);
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
