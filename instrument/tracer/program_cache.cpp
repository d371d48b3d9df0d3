// Finds out which file a link of /proc leads to, and parses it unless it is known.
#include "program_cache.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace frontload;

static Error notRecorded(const Twine &path, const Twine &reason) {
  return createStringError(path + ": not recorded: " + reason);
}

/// The name of a file that cannot be opened. If a program may not be read, the kernel only tells
/// its name.
static std::string nameBehind(const std::string &link) {
  SmallString<256> path;
  if (!sys::fs::real_path(link, path))
    return path.str().str();
  if (auto name = MemoryBuffer::getFileAsStream(sys::path::parent_path(link) + "/comm"))
    return (*name)->getBuffer().trim().str();
  return link;
}

Expected<ProgramRef> ProgramCache::get(const std::string &link) {
  SmallString<256> path;
  auto file = sys::fs::openNativeFileForRead(link, sys::fs::OF_None, &path);
  if (!file)
    return notRecorded(nameBehind(link), toString(file.takeError()));
  scope_exit closeIt([&] { sys::fs::closeFile(*file); });
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(*file, status))
    return notRecorded(path, code.message());

  Key key = {status.getUniqueID(), status.getLastModificationTime(), status.getSize()};
  if (auto known = programs.find(key); known != programs.end())
    return known->second;
  auto buffer = MemoryBuffer::getOpenFile(*file, path, status.getSize(),
                                          /*RequiresNullTerminator=*/false);
  if (!buffer)
    return notRecorded(path, buffer.getError().message());
  auto program = Program::read(**buffer, until, blocksToo);
  if (!program)
    return notRecorded(path, toString(program.takeError()));
  untilSeen |= program->hasUntilFunction();
  // A recording of a whole build executes many programs; ended ones can be read again.
  constexpr size_t maxPrograms = 64;
  if (programs.size() >= maxPrograms)
    std::erase_if(programs, [](auto &entry) { return entry.second.use_count() == 1; });
  return programs[key] = std::make_shared<const Program>(std::move(*program));
}
