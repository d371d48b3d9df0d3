// What another linker can do for a start.
#include "cc/other_linker.h"
#include "frontload_or_empty.h"
#include "profile/profile_file.h"
#include "program/diagnostics.h"
#include "program/library_search.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace frontload {

namespace {
enum class Kind { Bfd, Gold, Lld, Mold };

struct OtherLinker {
  Kind kind;
  unsigned version; ///< 100 for each major version, and the minor one
  std::string name; ///< for messages
};
} // namespace

static std::unique_ptr<MemoryBuffer> open(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file ? std::move(*file) : nullptr;
}

/// The first line that a compiler prints for `questions`, and in `told` what it says on stderr;
/// both empty if it fails.
static std::string ask(ArrayRef<const char *> compiler, const CompilerCommand &command,
                       ArrayRef<StringRef> questions, std::string *told = nullptr) {
  SmallString<128> answer, errors;
  if (sys::fs::createTemporaryFile("frontload", "answer", answer))
    return "";
  FileRemover remover(answer);
  if (sys::fs::createTemporaryFile("frontload", "errors", errors))
    return "";
  FileRemover errorsRemover(errors);
  SmallVector<StringRef> words(compiler.begin(), compiler.end());
  llvm::append_range(words, command.choices);
  llvm::append_range(words, questions);
  ErrorOr<std::string> program = sys::findProgramByName(words.front());
  std::optional<StringRef> streams[] = {"", StringRef(answer), StringRef(errors)};
  if (!program || sys::ExecuteAndWait(*program, words, /*Env=*/std::nullopt, streams))
    return "";
  if (auto text = open(errors); text && told)
    *told = text->getBuffer().str();
  auto text = open(answer);
  return text ? text->getBuffer().split('\n').first.str() : "";
}

/// The linker that `ld --version` describes in its first line.
static std::optional<OtherLinker> linkerOf(StringRef line) {
  static constexpr std::pair<StringLiteral, Kind> kinds[] = {{"GNU ld (", Kind::Bfd},
                                                             {"GNU gold (", Kind::Gold},
                                                             {"LLD ", Kind::Lld},
                                                             {"mold ", Kind::Mold}};
  for (auto [mark, kind] : kinds) {
    size_t at = line.find(mark);
    if (at == StringRef::npos)
      continue;
    // "GNU ld (GNU Binutils for Debian) 2.40", "Debian LLD 19.1.7 (compatible with GNU linkers)"
    StringRef number = kind == Kind::Bfd || kind == Kind::Gold
                           ? line.substr(line.rfind(' ') + 1)
                           : line.substr(at + mark.size()).split(' ').first;
    unsigned major = 0, minor = 0;
    StringRef rest = number;
    rest.consumeInteger(10, major);
    if (rest.consume_front("."))
      rest.consumeInteger(10, minor);
    return OtherLinker{kind, major * 100 + minor,
                       (mark.split('(').first.rtrim() + " " + number).str()};
  }
  return std::nullopt;
}

/// Writes the names of a profile, in their order, as lld reads them. Returns the path of the file;
/// empty if it cannot be written.
static std::string writeOrder(StringRef path) {
  StartupProfile profile;
  SmallString<128> order;
  int file;
  if (readProfile(path.str(), profile) ||
      sys::fs::createTemporaryFile("frontload", "order", file, order))
    return "";
  raw_fd_ostream out(file, /*shouldClose=*/true);
  for (const ProfileEntry &entry : profile.entries)
    if ((entry.kind == EntryKind::Function || entry.kind == EntryKind::Data) &&
        !entry.name.contains('\n') && !entry.name.starts_with("#"))
      out << entry.name << '\n';
  out.close();
  if (!out.has_error())
    return order.str().str();
  out.clear_error();
  sys::fs::remove(order);
  return "";
}

/// Whether the linker packs relative relocations of a program that this C library then starts: the
/// program has to ask for GLIBC_ABI_DT_RELR, which lld 14 and mold leave out.
static bool canPack(const OtherLinker &linker, StringRef libc) {
  if (linker.kind == Kind::Lld ? linker.version < 1500
                               : linker.kind != Kind::Bfd || linker.version < 238)
    return false;
#ifndef __x86_64__
  if (linker.kind == Kind::Bfd)
    return false;
#endif
  return libc.contains("GLIBC_ABI_DT_RELR");
}

bool addForOtherLinker(const OwnOptions &options, const CompilerCommand &command,
                       ArrayRef<const char *> words, StringRef profile, StringRef why,
                       Additions &additions) {
  std::string told; // with -v, the words that the linker is called with
  std::optional<OtherLinker> linker = linkerOf(ask(words, command, {"-v", "-Wl,--version"}, &told));
  bool isMusl = StringRef(told).contains("/ld-musl");
  const std::string note = orEmpty(findOwnLibrary("note.o"));
  if (note.empty() || !linker)
    return false;
  auto room = open(note), start = open(ask(words, command, {"-print-file-name=crt1.o"}));
  if (!room || !start || !isSameMachine(room->getBuffer(), start->getBuffer()))
    return false;
  std::vector<std::string> added;
  auto forLinker = [&](const Twine &argument) {
    additions.flags.insert(additions.flags.end(), {"-Xlinker", argument.str()});
  };
  if (linker->kind == Kind::Lld) {
    additions.temporary = writeOrder(profile);
    if (!additions.temporary.empty()) {
      forLinker("--symbol-ordering-file=" + additions.temporary);
      forLinker("--no-warn-symbol-ordering");
      added.push_back("an order of symbols");
    }
  } else if (std::string plugin = orEmpty(findOwnLibrary("frontload-gold.so"));
             linker->kind == Kind::Gold && !plugin.empty()) {
    forLinker("--plugin=" + plugin);
    forLinker("--plugin-opt=profile=" + profile);
    forLinker("--plugin-opt=min-match=0"); // the note is judged
    added.push_back("an order of sections");
  }
  auto libc = open(ask(words, command, {"-print-file-name=libc.so.6"}));
  if (libc && !isMusl && !command.libraries.isStatic && canPack(*linker, libc->getBuffer())) {
    additions.flags.insert(additions.flags.end(), {"-z", "pack-relative-relocs"});
    added.push_back("packed relative relocations");
  }
  additions.flags.push_back(note);
  added.push_back("a note");
  bool isInside = isMusl || command.libraries.isStatic;
  std::string library =
      orEmpty(findOwnLibrary(isInside ? StringRef(prefetchArchive) : "libfrontload-prefetch.so"));
  if (!library.empty() && options.wantsPrefetch && !command.isShared && (libc || isMusl)) {
    for (const std::string &symbol :
         isInside ? prefetchSymbols(isMusl) : std::vector<std::string>())
      forLinker("--undefined=" + symbol);
    forLinker("--push-state");
    forLinker("--no-as-needed");
    additions.flags.push_back(library);
    forLinker("--pop-state");
    added.push_back(sys::path::filename(library).str());
  }
  additions.profileOfNote = profile;
  frontload::note(command.output + ": " + why + ": " + linker->name + " links it, with " +
                  join(added, ", "));
  return true;
}

} // namespace frontload
