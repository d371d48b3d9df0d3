// How kernels differ in what a cold start reads.
#include "cold_start/kernel_rules.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace frontload {

std::optional<KernelRules> kernelRules(StringRef version, StringRef fileSystem) {
  constexpr unsigned never = ~0u;
  unsigned major, minor;
  if (version.consumeInteger(10, major) || !version.consume_front(".") ||
      version.consumeInteger(10, minor) || major > 99 || minor > 99)
    return std::nullopt;
  // The first kernel that has large folios there.
  auto first = StringSwitch<std::optional<unsigned>>(fileSystem)
                   .Case("ext4", 616)
                   .Case("xfs", 518)
                   .Case("btrfs", 702)
                   .Case("erofs", 602)
                   .Case("f2fs", never)
                   .Default(std::nullopt);
  if (!first)
    return std::nullopt;
  KernelRules rules;
  rules.version = 100 * major + minor;
  rules.hasLargeFolios = rules.version >= *first;
  return rules;
}

} // namespace frontload
