// What gold calls.
//
// gold calls a plugin at a few moments of a link. For each file in it (members of archives once
// they are extracted) gold asks whether the plugin claims it. This plugin claims none, but
// remembers the objects. When all symbols are read, the plugin tells gold the order. Objects that
// another plugin makes by link-time optimization come after that, one by one. The last call comes
// when the output is written, or when gold gives up.
#include "gold/gold_link.h"
#include "plan/front_report.h"
#include "profile/profile_file.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace frontload;

const StringLiteral frontload::programName = "frontload-gold";

/// Lives as long as the process: gold unloads no plugin.
static GoldLink *gold;

extern "C" ld_plugin_status onload(ld_plugin_tv *calls);

ld_plugin_status onload(ld_plugin_tv *calls) {
  Linker linker(calls);
  if (!linker.ordersSections()) {
    linker.say(LDPL_INFO, "this linker does not accept an order of sections: it links without one");
    return LDPS_OK;
  }
  GoldOptions options;
  auto arguments = MemoryBuffer::getFileAsStream("/proc/self/cmdline"); // if the system shows it
  GoldCommandLine commandLine = parseGoldCommandLine(arguments ? (*arguments)->getBuffer() : "");
  StartupProfile profile;
  std::optional<Refusal> refusal = parseGoldOptions(linker.options, options);
  if (!refusal && !commandLine.ordering.empty())
    refusal = Refusal{commandLine.ordering + ": cannot be combined with a startup profile: both "
                                             "decide the order of sections",
                      "use one of the two", exitUsage};
  if (!refusal)
    refusal = readProfile(options.profile, profile);
  if (!refusal)
    refusal = checkReportPath(options.report, {linker.output, options.profile});
  if (refusal)
    linker.fail(refusal->message, refusal->note);
  // Build systems pass the same flags to every link; there is nothing to lay out in this one.
  if (linker.outputType == LDPO_REL)
    return LDPS_OK;
  linker.registerClaimFile([](const ld_plugin_input_file *file, int *isClaimed) {
    *isClaimed = 0;
    return gold->addFile(*file), LDPS_OK;
  });
  linker.registerAllSymbolsRead([] { return gold->allRead(), LDPS_OK; });
  linker.registerCleanup([] { return gold->end(), LDPS_OK; });
  if (linker.registerNewInput)
    linker.registerNewInput(
        [](const ld_plugin_input_file *file) { return gold->addMade(*file), LDPS_OK; });
  linker.allowSectionOrdering();
  if (commandLine.emitsRelocations)
    linker.uniqueSegment = nullptr;
  else
    linker.allowUniqueSegment();
  gold = new GoldLink(std::move(linker), std::move(options), std::move(profile),
                      commandLine.foldsCode);
  return LDPS_OK;
}
