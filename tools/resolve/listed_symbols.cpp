// Names of the profile in a list of symbols.
#include "resolve/listed_symbols.h"
#include "names/name_table.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace frontload {

namespace {
struct Match {
  ListedPlace place;
  bool isLocal, isOfFile;
  uint32_t object;
};
} // namespace

/// The name of a source file without its folder, or of an object also without its extension.
static StringRef stem(StringRef file) {
  file.consume_back(")");
  file = file.substr(file.rfind('(') + 1);
  file = file.substr(file.rfind('/') + 1);
  if (!file.consume_back(".o"))
    file.consume_back(".obj");
  return file;
}

bool isOfOneSource(StringRef file, StringRef object) {
  StringRef source = stem(file), built = stem(object);
  // A source file has an extension, which its object's name may also contain.
  return !source.empty() && (source == built || source.rsplit('.').first == built);
}

Expected<std::vector<ListedPlace>> findListed(const StartupProfile &profile, StringRef path,
                                              StringRef list) {
  NameTable names(profile);
  // The files in the profile, by the possible stems of objects built from them.
  StringMap<SmallVector<CachedHashStringRef, 1>> filesOf;
  StringSet<> known;
  for (const ProfileEntry &entry : profile.entries) {
    if (entry.file.empty() || !known.insert(entry.file).second)
      continue;
    StringRef source = stem(entry.file);
    filesOf[source].emplace_back(entry.file);
    if (StringRef built = source.rsplit('.').first; built != source)
      filesOf[built].emplace_back(entry.file);
  }
  std::vector<Match> matches;
  std::vector<bool> hasItsObject(profile.entries.size()); // by entry
  auto rank = [&](const Match &match) {
    const ListedPlace &place = match.place;
    StringRef file = profile.entries[place.entry].file;
    bool agrees =
        match.isLocal && match.isOfFile &&
        (hasItsObject[place.entry] ? file == place.object : isOfOneSource(file, place.object));
    return FindRank(place.likeness, match.isLocal, !file.empty(), agrees);
  };
  FoundNames found(profile.entries.size());
  // Adds the matches of each symbol.
  auto search = [&](auto find) -> Error {
    StringRef rest = list, lastObject;
    uint32_t object = 0;
    for (uint32_t line = 0; !rest.empty(); ++line) {
      StringRef text;
      std::tie(text, rest) = rest.split('\n');
      auto [objectName, afterObject] = text.split('\0');
      auto [binding, afterBinding] = afterObject.split('\0');
      StringRef name = afterBinding.split('\0').first;
      if ((binding != "local" && binding != "global") || name.empty() || name.end() == text.end())
        return createStringError(path + ": line " + Twine(line + 1) + ": not a symbol");
      if (objectName != lastObject)
        lastObject = objectName, ++object;
      bool isLocal = binding == "local";
      auto files = filesOf.find(stem(objectName));
      auto mayAgree = isLocal && files != filesOf.end() ? ArrayRef(files->second)
                                                        : ArrayRef<CachedHashStringRef>();
      find(name, mayAgree, [&](const NameTable::Match &match) {
        matches.push_back({{match.entry, match.likeness, line, objectName, name},
                           isLocal,
                           match.isOfFile,
                           object});
        if (isLocal && match.isOfFile && profile.entries[match.entry].file == objectName)
          hasItsObject[match.entry] = true;
      });
    }
    for (const Match &match : matches)
      found.note(match.place.entry, rank(match));
    return Error::success();
  };
  Error error = search(
      [&](StringRef name, auto files, auto visit) { names.find(HashedName(name), files, visit); });
  if (!error && names.prepareStable([&](uint32_t entry) { return found.isSettled(entry); }))
    error = search(
        [&](StringRef name, auto files, auto visit) { names.findStable(name, files, visit); });
  if (error)
    return error;
  std::vector<ListedPlace> places;
  for (const Match &match : matches)
    if (found.accept(match.place.entry, rank(match),
                     {match.place.name, match.object, match.isLocal}))
      places.push_back(match.place);
  return places;
}

} // namespace frontload
