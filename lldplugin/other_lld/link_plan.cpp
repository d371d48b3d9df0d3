//===- link_plan.cpp - what another lld is to see of its inputs ------------===//

#include "other_lld/link_plan.h"
#include "other_lld/interposer/plan_format.h"
#include "other_lld/markable_names.h"
#include "plan/section_marks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>
#include <sys/stat.h>

using namespace llvm;

namespace frontload {

FileIdentity identityOf(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return {};
  return {uint64_t(status.st_dev), uint64_t(status.st_ino), uint64_t(status.st_size),
          int64_t(status.st_mtim.tv_sec), int64_t(status.st_mtim.tv_nsec)};
}

namespace {
/// Where an object lies.
struct Home {
  std::string path;
  FileIdentity identity;
  const char *begin; ///< of the file, in memory
};

/// The patches of a file by their offsets.
struct PatchedFile {
  std::string path;
  std::map<uint64_t, frontload_plan_patch> patches;
};
} // namespace

/// The path of a member of a thin archive, whose identifier is relative to the archive.
static std::string pathOfMember(const InputObject &object) {
  StringRef name = object.buffer.getBufferIdentifier();
  if (object.archive.empty() || sys::path::is_absolute(name))
    return name.str();
  SmallString<128> path(sys::path::parent_path(object.archive));
  sys::path::append(path, name);
  return path.str().str();
}

/// The file that `object` lies in; null for a member of a thin archive. `files` are ascending by
/// the address of their buffers.
static const LinkInputs::File *fileOf(const InputObject &object, ArrayRef<LinkInputs::File> files) {
  const char *begin = object.buffer.getBufferStart();
  auto next = llvm::upper_bound(files, begin, [](const char *b, const LinkInputs::File &f) {
    return b < f.buffer.getBufferStart();
  });
  return next != files.begin() && begin < std::prev(next)->buffer.getBufferEnd() ? std::prev(next)
                                                                                 : nullptr;
}

/// Where `object` is; `files` as for fileOf.
static Home homeOf(const InputObject &object, ArrayRef<LinkInputs::File> files) {
  if (const LinkInputs::File *file = fileOf(object, files))
    return {file->buffer.getBufferIdentifier().str(), file->identity,
            file->buffer.getBufferStart()};
  std::string path = pathOfMember(object);
  return {path, identityOf(path), object.buffer.getBufferStart()};
}

/// The files that were read at least once as something other than an object: --format=binary puts
/// their bytes into the output, where a mark would be seen.
static std::set<FileIdentity> dataFiles(ArrayRef<LinkInputs::File> files,
                                        ArrayRef<InputObject> objects) {
  std::vector<bool> hasObject(files.size());
  for (const InputObject &object : objects)
    if (const LinkInputs::File *file = fileOf(object, files))
      hasObject[file - files.begin()] = true;
  std::set<FileIdentity> result;
  for (auto [i, file] : enumerate(files))
    if (!hasObject[i])
      result.insert(file.identity);
  return result;
}

/// The slot of a hash in a table as plan_format.h has it: its own, or an empty one for it.
static uint64_t slotOf(ArrayRef<uint64_t> slots, uint64_t hash) {
  uint64_t i = hash % slots.size();
  while (slots[i] != 0 && slots[i] != hash)
    i = (i + 1) % slots.size();
  return i;
}

template <class T> static StringRef bytesOf(const std::vector<T> &items) {
  return {reinterpret_cast<const char *>(items.data()), items.size() * sizeof(T)};
}

using PlannedSections = ArrayRef<PlannedSection>;

/// Splits `planned`, which ascends by object, into the sections of each object.
static std::vector<PlannedSections> splitByObject(PlannedSections planned) {
  std::vector<PlannedSections> result;
  while (!planned.empty()) {
    uint32_t object = planned[0].object;
    result.push_back(planned.take_while([&](const auto &p) { return p.object == object; }));
    planned = planned.drop_front(result.back().size());
  }
  return result;
}

/// How the names of each object's sections can be marked.
static std::vector<std::vector<MarkableName>> lookAtAll(const LinkInputs &inputs,
                                                        ArrayRef<PlannedSections> byObject) {
  std::vector<std::vector<MarkableName>> result(byObject.size());
  parallelFor(0, byObject.size(), [&](size_t i) {
    std::vector<const char *> names;
    for (const auto &section : byObject[i])
      names.push_back(section.name);
    result[i] = lookAtNames(inputs.objects[byObject[i][0].object].buffer.getBuffer(), names);
  });
  return result;
}

/// The patch that marks a section in the file at `begin`; none if there are too many marks.
static std::optional<frontload_plan_patch> patchFor(const PlannedSection &section,
                                                    const char *begin) {
  std::optional<Mark> mark = markFor(*section.pattern, section.order);
  if (!mark)
    return std::nullopt;
  frontload_plan_patch patch = {};
  patch.offset = section.name - begin;
  StringRef stem = markedStem(*section.pattern);
  llvm::copy(stem, patch.before);
  llvm::copy(*mark, patch.after);
  return patch;
}

/// The table of the hashes of `strings`, as plan_format.h has it.
static std::vector<uint64_t> slotsOf(ArrayRef<StringRef> strings, StringHash hash) {
  // Half full, so that hardly any cold string takes a second look.
  std::vector<uint64_t> slots(PowerOf2Ceil(2 * strings.size() + 1));
  for (StringRef string : strings)
    slots[slotOf(slots, hash(string))] = hash(string);
  return slots;
}

/// The text of a plan.
static std::string contentsOf(const std::map<FileIdentity, PatchedFile> &patched,
                              const std::vector<uint64_t> &slots) {
  std::vector<frontload_plan_file> files;
  std::vector<frontload_plan_patch> patches;
  for (const auto &[identity, file] : patched) {
    files.push_back({identity.device, identity.inode, identity.size, identity.seconds,
                     identity.nanoseconds, patches.size(), file.patches.size(), 0});
    for (const auto &[offset, patch] : file.patches)
      patches.push_back(patch);
  }
  std::vector<uint8_t> seen(slots.size());
  std::vector<frontload_plan> header(1);
  header[0] = {FRONTLOAD_PLAN_MAGIC, files.size(),          patches.size(),
               slots.size(),         HotStrings::shardBits, HotStrings::lowestOtherShard};
  std::string contents;
  for (StringRef part :
       {bytesOf(header), bytesOf(files), bytesOf(patches), bytesOf(slots), bytesOf(seen)})
    contents += part;
  return contents;
}

Expected<LinkPlan> LinkPlan::make(const LinkInputs &inputs, FrontLink &link, StringHash hash) {
  LinkPlan plan;
  std::vector<LinkInputs::File> files = inputs.files;
  llvm::sort(files, [](const auto &a, const auto &b) {
    return a.buffer.getBufferStart() < b.buffer.getBufferStart();
  });
  std::vector<PlannedSection> planned = link.placement().sections().vec();
  llvm::sort(planned, [](const auto &a, const auto &b) {
    return std::tie(a.object, a.name) < std::tie(b.object, b.name);
  });
  std::vector<PlannedSections> byObject = splitByObject(planned);
  std::vector<std::vector<MarkableName>> looked = lookAtAll(inputs, byObject);

  std::set<FileIdentity> data = dataFiles(files, inputs.objects);
  std::map<FileIdentity, PatchedFile> patched;
  for (auto [sections, names] : zip_equal(byObject, looked)) {
    const InputObject &object = inputs.objects[sections[0].object];
    Home home = homeOf(object, files);
    bool isData = data.contains(home.identity);
    PatchedFile &file = patched[home.identity];
    file.path = home.path;
    for (auto [section, name] : zip_equal(sections, names)) {
      plan.known.push_back({section.name, &object, name.symbol, name.isMerged});
      if (!section.pattern)
        continue;
      auto patch = name.isMarkable && !isData ? patchFor(section, home.begin) : std::nullopt;
      // A file may be given twice. Its objects are then planned alike, but for ties.
      if (patch)
        file.patches.try_emplace(patch->offset, *patch);
      else
        link.account().keepPlace(section.name);
    }
  }
  for (const auto &[identity, file] : patched)
    plan.paths.push_back(file.path);
  if (hash) {
    plan.hash = hash;
    plan.slots = slotsOf(link.hotStrings().contents(), hash);
  }
  Expected<MemoryFile> memory = MemoryFile::make(contentsOf(patched, plan.slots));
  if (!memory)
    return memory.takeError();
  plan.memory = std::move(*memory);
  return plan;
}

void LinkPlan::tellStrings(FrontLink &link) const {
  Expected<std::string> contents = memory.contents();
  if (!contents)
    return consumeError(contents.takeError()); // then no string is found
  StringRef seen = StringRef(*contents).take_back(slots.size());
  if (hash)
    for (StringRef string : link.hotStrings().contents())
      if (seen[slotOf(slots, hash(string))])
        link.hotStrings().see(string);
}

std::string LinkPlan::unserved() const {
  Expected<std::string> contents = memory.contents();
  if (!contents)
    return toString(contents.takeError());
  auto *files =
      reinterpret_cast<const frontload_plan_file *>(contents->data() + sizeof(frontload_plan));
  for (auto [i, path] : enumerate(paths)) {
    const frontload_plan_file &file = files[i];
    if (file.num_served >= file.num_patches)
      continue;
    FileIdentity planned = {file.device, file.inode, file.size, file.modified_seconds,
                            file.modified_nanoseconds};
    return path + (identityOf(path) == planned ? ": the linker did not read it as planned"
                                               : ": it changed during the link");
  }
  return "";
}

} // namespace frontload
