//===- reading_link.h - a link whose profile is being read -----------------===//
//
// Reading a profile takes a hundredth of a large link, if lld waits for it. But lld first opens its
// inputs, in one thread, and needs no front before they are open. Another thread reads the profile
// meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_READING_LINK_H
#define FRONTLOAD_LLDPLUGIN_LLD_READING_LINK_H

#include "lld/Common/ErrorHandler.h"
#include "plan/front_link.h"
#include "profile/profile_file.h"
#include <future>
#include <string>
#include <utility>

namespace frontload {

class ReadingLink {
public:
  /// Begins to read the profile at `path`.
  ReadingLink(const std::string &path, const LinkTraits &traits)
      : reading(std::async(std::launch::async, [path, traits] {
          Read read;
          StartupProfile profile;
          read.refusal = readProfile(path, profile);
          // Not freed: lld refers to it until the process ends.
          if (!read.refusal)
            read.link = new FrontLink(std::move(profile), path, traits);
          return read;
        })) {}

  /// The link. If the profile cannot be read, reports why and ends the process.
  FrontLink &await() {
    if (!link) {
      Read read = reading.get();
      if (read.refusal)
        lld::exitLld(refuse(*read.refusal));
      link = read.link;
    }
    return *link;
  }
  /// The link, if await() has returned it, else null.
  FrontLink *awaited() const { return link; }

private:
  struct Read {
    std::optional<Refusal> refusal;
    FrontLink *link = nullptr;
  };
  std::future<Read> reading;
  FrontLink *link = nullptr;
};

} // namespace frontload

#endif
