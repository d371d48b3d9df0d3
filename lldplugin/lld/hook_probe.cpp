//===- hook_probe.cpp - whether an lld does what ld.frontload relies on ----===//
//
// CMake builds this with the lld that ld.frontload is to be built with, and runs it: it links two
// small objects through all hooks, and says what is not as lld_symbols.h and docs/lld-hooks.md have
// it. A name that this lld does not have fails before that, when this is linked.
//
//===----------------------------------------------------------------------===//

#include "lld/Common/Driver.h"
#include "lld/lld_symbols.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ELF.h"
#include "llvm/ObjectYAML/yaml2obj.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/YAMLTraits.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

LLD_HAS_DRIVER(elf)

using namespace llvm;

// What is linked: code of which the script takes the first two sections, the other way round, and
// strings of which the second one comes first.
static constexpr StringLiteral commandLineObject = R"(--- !ELF
FileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_REL, Machine: EM_X86_64}
Sections:
  - {Name: .text.one, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Content: "31313131"}
  - {Name: .text.two, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Content: "32323232"}
  - {Name: .text.next, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Content: "33333333"}
  - {Name: .rodata.str1.1, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_MERGE, SHF_STRINGS],
     EntSize: 1, Content: "636f6c6400686f7400"}
Symbols:
  - {Name: _start, Section: .text.one, Binding: STB_GLOBAL}
  - {Name: next, Section: .text.next, Binding: STB_GLOBAL}
  - {Name: member, Binding: STB_GLOBAL}
)";
static constexpr StringLiteral archiveMember = R"(--- !ELF
FileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_REL, Machine: EM_X86_64}
Sections:
  - {Name: .text.member, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Content: "34"}
Symbols:
  - {Name: member, Section: .text.member, Binding: STB_GLOBAL}
)";
static constexpr StringLiteral addedObject = R"(--- !ELF
FileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_REL, Machine: EM_X86_64}
Sections:
  - {Name: .added, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Content: "6d6f766564"}
)";
static constexpr StringLiteral firstPattern = "<probe first>", secondPattern = "<probe second>",
                               stringsPattern = "<probe strings>";
static constexpr StringLiteral script = R"(OVERWRITE_SECTIONS {
  .text.front : { *(SORT_BY_INIT_PRIORITY("<probe first>")) }
  .bss : { }
}
SECTIONS {
  .rodata.strings : { *("<probe strings>") }
  .text : { *(SORT_BY_INIT_PRIORITY("<probe second>")) }
  .added : { }
} INSERT AFTER .bss;
)";

static bool hasFailed;

/// Says that lld does not do what we rely on: of which function, and what.
static void expect(bool holds, StringRef function, const Twine &what) {
  if (!holds)
    outs() << "  " << function << ": " << what << '\n';
  hasFailed |= !holds;
}

/// The folder that all files are in, and their paths.
static std::string folder;
static std::string in(StringRef name) { return folder + "/" + name.str(); }

static std::string toObject(StringRef yaml) {
  std::string bytes;
  raw_string_ostream os(bytes);
  yaml::Input input(yaml);
  yaml::convertYAML(input, os, [](const Twine &message) { outs() << message << '\n'; });
  return bytes;
}

static void writeFile(StringRef path, StringRef text) {
  std::error_code error;
  raw_fd_ostream(path, error, sys::fs::CD_CreateAlways, sys::fs::FA_Write, sys::fs::OF_None)
      << text;
}

static std::string readWhole(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file ? (*file)->getBuffer().str() : "";
}

//===----------------------------------------------------------------------===//
// What the hooks see, in the order in which they are called.
//===----------------------------------------------------------------------===//

static std::mutex mutex;
static std::vector<std::string> calls;
static void note(const Twine &call) {
  std::lock_guard lock(mutex);
  calls.push_back(call.str());
}
static size_t placeOf(StringRef call) { return llvm::find(calls, call) - calls.begin(); }
static bool hasCall(StringRef call) { return placeOf(call) != calls.size(); }

struct Created {
  const void *file;
  MemoryBufferRef buffer;
  std::string archive;
  bool isLazy;
};
static std::vector<Created> created;

std::optional<MemoryBufferRef> wrapReadFile(lld::elf::Ctx &ctx, StringRef path) {
  note("readFile " + path);
  std::optional<MemoryBufferRef> buffer = realReadFile(ctx, path);
  expect(buffer && buffer->getBufferIdentifier() == path && buffer->getBuffer() == readWhole(path),
         "readFile", "does not return the contents of the file, with its path");
  return buffer;
}

OwnedFile wrapCreateObjFile(lld::elf::Ctx &ctx, MemoryBufferRef mb, StringRef archive, bool lazy) {
  note("createObjFile");
  OwnedFile result = realCreateObjFile(ctx, mb, archive, lazy);
  std::lock_guard lock(mutex);
  created.push_back({result.file, mb, archive.str(), lazy});
  return result;
}

void wrapBitcodeFile(void *file, lld::elf::Ctx &ctx, MemoryBufferRef mb, StringRef archive,
                     uint64_t offset, bool lazy) {
  realBitcodeFile(file, ctx, mb, archive, offset, lazy);
}

void wrapReadLinkerScript(lld::elf::Ctx &ctx, MemoryBufferRef mb) {
  note("readLinkerScript " + mb.getBufferIdentifier());
  realReadLinkerScript(ctx, mb);
}

void wrapParseFiles(lld::elf::Ctx &ctx, const void *files) {
  note("parseFiles");
  std::vector<const void *> inOrder;
  if (!created.empty())
    append_range(inOrder, *static_cast<const SmallVector<const void *, 0> *>(files));
  bool isInOrder = created.size() == 2 && inOrder.size() == 2;
  for (const Created &c : created)
    isInOrder &= c.file == inOrder[c.archive.empty() ? 0 : 1];
  expect(isInOrder, "parseFiles",
         "is not given what createObjFile has made, in the order of the command line");
  realParseFiles(ctx, files);
  static const std::string object = toObject(addedObject);
  auto &owner = *new OwnedFile(realCreateObjFile(ctx, {object, "<added>"}, "", false));
  auto &added = *new SmallVector<void *, 0>{owner.file};
  realParseFiles(ctx, &added);
}

static bool isSplitting;
static std::set<std::string> hashed;
uint64_t wrapXxh3(ArrayRef<uint8_t> data) {
  uint64_t hash = realXxh3(data);
  if (!isSplitting)
    return hash;
  std::lock_guard lock(mutex);
  hashed.insert(toStringRef(data).str());
  // As HotStrings::meet() does.
  uint64_t shards = uint64_t(31) << 27, lowest = uint64_t(1) << 27, rest = hash & ~shards;
  return toStringRef(data) == "hot" ? rest : rest | std::max(hash & shards, lowest);
}

static void splitSections(lld::elf::Ctx &ctx, void (*real)(lld::elf::Ctx &)) {
  note("splitSections");
  realReadLinkerScript(ctx, MemoryBufferRef(script, "<script>"));
  isSplitting = true;
  real(ctx);
  isSplitting = false;
}
void wrapSplitSections32LE(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections32LE); }
void wrapSplitSections64LE(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections64LE); }
void wrapSplitSections32BE(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections32BE); }
void wrapSplitSections64BE(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections64BE); }

static bool isPlacing;
static std::set<std::thread::id> threads;
/// What lld asks for, by the text of the pattern that it asks about.
static std::map<StringRef, std::vector<const char *>> asked;
/// Of the sections that were asked for, by the addresses of their names.
static std::map<const char *, std::string> names;
static std::vector<StringRef> patterns;
static bool isAddressKept = true;

void wrapProcessSectionCommands(void *linkerScript) {
  note("processSectionCommands");
  isPlacing = true;
  realProcessSectionCommands(linkerScript);
  isPlacing = false;
}

bool wrapMatch(const lld::StringMatcher *matcher, StringRef name) {
  if (!isPlacing)
    return realMatch(matcher, name);
  for (StringRef pattern : {firstPattern, secondPattern, stringsPattern}) {
    if (!realMatch(matcher, pattern) || realMatch(matcher, "another"))
      continue;
    if (patterns.empty() || patterns.back() != pattern)
      patterns.push_back(pattern);
    threads.insert(std::this_thread::get_id());
    asked[pattern].push_back(name.data());
    names[name.data()] = name.str();
    return pattern == firstPattern    ? name == ".text.one" || name == ".text.two"
           : pattern == secondPattern ? name == ".text.next"
                                      : name == ".rodata.str1.1";
  }
  return realMatch(matcher, name);
}

static bool isPrioritySought;
int wrapGetPriority(StringRef name) {
  if (!isPlacing || !names.count(name.data()))
    return realGetPriority(name);
  isPrioritySought = true;
  return name == ".text.two" ? 1 : 2;
}

void wrapReplace(lld::elf::InputSection *kept, lld::elf::InputSection *folded) {
  realReplace(kept, folded);
}

namespace {
/// An output that goes elsewhere, as that of a link with a front does.
class Output final : public FileOutputBuffer {
public:
  Output(StringRef path, OutputBuffer b) : FileOutputBuffer(path), buffer(std::move(b)) {}
  uint8_t *getBufferStart() const override { return buffer->getBufferStart(); }
  uint8_t *getBufferEnd() const override { return buffer->getBufferEnd(); }
  size_t getBufferSize() const override { return buffer->getBufferSize(); }
  void discard() override { buffer->discard(); }
  Error commit() override {
    note("commit " + FinalPath);
    return buffer->commit();
  }

private:
  OutputBuffer buffer;
};
} // namespace

Expected<OutputBuffer> wrapCreateOutput(StringRef path, size_t size, unsigned flags) {
  note((size > 1 ? "create " : "try ") + path);
  Expected<OutputBuffer> buffer = realCreateOutput((path + ".aside").str(), size, flags);
  if (!buffer)
    return buffer;
  return std::make_unique<Output>(path, std::move(*buffer));
}

void wrapUnlinkAsync(StringRef path) { note("unlinkAsync " + path); }

void wrapOpenStream(raw_fd_ostream *stream, StringRef path, std::error_code &error,
                    sys::fs::OpenFlags flags) {
  note("open " + path);
  realOpenStream(stream, (path + ".aside").str(), error, flags);
}

/// Whether lld orders sections by what they have in common, not by what calls what.
static bool isPartitioning;
static frontload::SectionOrder ordered;
/// What is not in the order that is returned stays where it is: here, all.
static frontload::SectionOrder withoutAll(StringRef function, frontload::SectionOrder order) {
  note(function);
  ordered = std::move(order);
  return frontload::SectionOrder();
}

frontload::SectionOrder wrapCallGraphOrder(lld::elf::Ctx &ctx) {
  return withoutAll("computeCallGraphProfileOrder", realCallGraphOrder(ctx));
}

frontload::SectionOrder wrapBalancedPartitioning(lld::elf::Ctx &ctx, StringRef profile, bool ofCode,
                                                 bool ofData, bool ofStartup, bool isVerbose) {
  return withoutAll("runBalancedPartitioning",
                    realBalancedPartitioning(ctx, profile, ofCode, ofData, ofStartup, isVerbose));
}

void wrapGrow(SmallVectorBase<uint32_t> *vector, void *first, size_t minSize, size_t elementSize) {
  realGrow(vector, first, minSize, elementSize);
}

static std::string response;
void wrapTarAppend(TarWriter *tar, StringRef path, StringRef data) {
  note("append " + path);
  if (path == "response.txt")
    response = data.str();
  realTarAppend(tar, path, data);
}

Error wrapWriteTimeTrace(StringRef path, StringRef output) {
  note("timeTraceProfilerWrite " + path);
  return realWriteTimeTrace((path + ".aside").str(), output);
}

//===----------------------------------------------------------------------===//
// What must hold.
//===----------------------------------------------------------------------===//

static void checkInputs() {
  for (const char *name : {"a.o", "lib.a"})
    expect(hasCall("readFile " + in(name)), "readFile", Twine("is not called for ") + name);
  expect(hasCall("readLinkerScript " + in("script")), "readLinkerScript",
         "is not called for a script among the inputs");
  expect(llvm::count(calls, "createObjFile") == 2, "createObjFile",
         "is not called once for each object");
  for (const Created &c : created)
    expect(c.archive.empty() ? c.buffer.getBuffer() == readWhole(in("a.o")) && !c.isLazy
                             : c.buffer.getBuffer() == toObject(archiveMember) &&
                                   c.archive == in("lib.a") && c.isLazy,
           "createObjFile", "is not given the object, its archive, and whether it is lazy");
}

static void checkOrder() {
  StringRef last;
  std::string tried = "try " + in("out"), unlinked = "unlinkAsync " + in("out"),
              opened = "create " + in("out"), committed = "commit " + in("out");
  for (StringRef call : {StringRef("createObjFile"), StringRef("parseFiles"),
                         StringRef("splitSections"), StringRef("processSectionCommands"),
                         StringRef(unlinked), StringRef(opened), StringRef(committed)}) {
    StringRef function = call.split(' ').first;
    if (function == "create" || function == "commit")
      function = "FileOutputBuffer";
    expect(hasCall(call), function, "is not called: " + call);
    expect(call == "createObjFile" || llvm::count(calls, call) == 1, function,
           "is called more than once");
    expect(last.empty() || placeOf(last) < placeOf(call), function, "is not called after " + last);
    last = call;
  }
  expect(placeOf(tried) < placeOf("parseFiles"), "FileOutputBuffer",
         "is not tried before parseFiles");
}

static void checkPatterns() {
  expect(patterns.size() == 3 && asked.size() == 3, "StringMatcher::match",
         "is not asked for one of our patterns after the other");
  expect(threads.size() <= 1, "StringMatcher::match", "is asked in several threads");
  // Each pattern is asked for what those before it have left, in the same order.
  std::vector<const char *> left;
  if (!patterns.empty())
    left = asked[patterns.front()];
  static const std::map<StringRef, std::set<std::string>> taken = {
      {firstPattern, {".text.one", ".text.two"}},
      {secondPattern, {".text.next"}},
      {stringsPattern, {".rodata.str1.1"}}};
  for (StringRef pattern : patterns) {
    expect(asked[pattern] == left, "StringMatcher::match",
           "is not asked for what is left, in the same order, for each pattern");
    erase_if(left, [&](const char *name) { return taken.at(pattern).count(names[name]); });
  }
  // A section is known by the address of its name in the object that it is in.
  for (const auto &[address, name] : names)
    if (name.find(".text.") == 0)
      isAddressKept &= any_of(created, [&](const Created &c) {
        return c.buffer.getBufferStart() <= address && address < c.buffer.getBufferEnd();
      });
  expect(isAddressKept && names.size() > 4, "StringMatcher::match",
         "is not given names where they are in the objects");
  expect(any_of(names, [](const auto &n) { return n.second == ".added"; }), "parseFiles",
         "does not take an object of ours");
  expect(isPrioritySought, "getPriority", "is not asked for what is sorted by it");
  expect(realGetPriority(".init_array.00100") == 100, "getPriority",
         "does not return the number at the end of a name");
}

/// lld's own order of sections, and how these begin (rest_order.h).
static void checkOwnOrder() {
  StringRef function = isPartitioning ? "runBalancedPartitioning" : "computeCallGraphProfileOrder";
  expect(llvm::count(calls, function) == 1 && placeOf("processSectionCommands") < placeOf(function),
         function, "is not called once, after processSectionCommands");
  bool isNamed = !ordered.empty();
  for (const auto &[section, priority] : ordered)
    isNamed &= names.count(frontload::nameOf(section).data());
  expect(isNamed, function, "does not return sections that begin as we believe");
}

/// What is kept for a replay: the options first, a line each, in their order.
static void checkReplay() {
  auto first = llvm::find_if(calls, [](StringRef call) { return call.starts_with("append "); });
  expect(first != calls.end() && *first == "append response.txt", "TarWriter::append",
         "is not called for response.txt first");
  size_t output = response.find("\n-o out\n"), plugin = response.find("\n--plugin <probe>\n");
  expect(output < plugin && plugin != std::string::npos, "TarWriter::append",
         "is not given the options in their order, a line each");
}

/// The contents of a section of the linked file.
static std::string contentsOf(StringRef bytes, StringRef name) {
  auto file = object::ELFFile<object::ELF64LE>::create(bytes);
  if (!file)
    return toString(file.takeError());
  auto sections = file->sections();
  if (!sections)
    return toString(sections.takeError());
  for (const auto &section : *sections) {
    auto found = file->getSectionName(section);
    auto contents = file->getSectionContents(section);
    if (found && contents && *found == name)
      return toStringRef(*contents).str();
    consumeError(found.takeError());
    consumeError(contents.takeError());
  }
  return "";
}

static void checkOutput() {
  std::string bytes = readWhole(in("out.aside"));
  expect(!bytes.empty() && readWhole(in("out")) == "the previous one", "FileOutputBuffer",
         "does not make the output, and only that");
  expect(contentsOf(bytes, ".text.front") == "22221111", "getPriority",
         "does not decide the order of sections");
  expect(bytes.find("3333") < bytes.find(contentsOf(bytes, ".added")), "readLinkerScript",
         "does not take a script that moves sections before splitSections");
  expect(contentsOf(bytes, ".text").substr(0, 4) == "3333", "StringMatcher::match",
         "does not decide what is in a section");
  expect(hashed.count("hot") && hashed.count("cold"), "xxh3_64bits",
         "is not asked in splitSections for the strings, without the zeros at their ends");
  expect(contentsOf(bytes, ".rodata.strings") == std::string("hot\0cold\0", 9), "xxh3_64bits",
         "does not decide the order of merged strings by the bits that we set");
  for (const char *name : {"map", "deps"})
    expect(hasCall("open " + in(name)) && !readWhole(in(Twine(name).str() + ".aside")).empty() &&
               !sys::fs::exists(in(name)),
           "raw_fd_ostream", Twine("is not what a file is opened by: ") + name);
  expect(hasCall("timeTraceProfilerWrite " + in("trace")), "timeTraceProfilerWrite",
         "is not called with the name of the file");
}

/// Links in a folder of its own, and says what is not as it should be. Returns whether all is.
static bool probe(const char *program) {
  SmallString<128> made;
  if (std::error_code error = sys::fs::createUniqueDirectory("frontload-hooks", made)) {
    outs() << "  a temporary folder cannot be made: " << error.message() << '\n';
    return false;
  }
  folder = made.str().str();
  writeFile(in("a.o"), toObject(commandLineObject));
  writeFile(in("script"), "GROUP()\n");
  writeFile(in("calls"), "_start member 100\nmember next 10\n");
  writeFile(in("out"), "the previous one");
  std::string member = toObject(archiveMember);
  std::vector<NewArchiveMember> members;
  members.emplace_back(MemoryBufferRef(member, "b.o"));
  consumeError(writeArchive(in("lib.a"), members, SymtabWritingMode::NormalSymtab,
                            object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false));

  std::vector<std::string> args = {program,
                                   in("a.o"),
                                   in("script"),
                                   in("lib.a"),
                                   "-o",
                                   in("out"),
                                   "-Map",
                                   in("map"),
                                   "--dependency-file=" + in("deps"),
                                   "--time-trace=" + in("trace"),
                                   "--reproduce=" + in("kept.tar"),
                                   "--plugin=<probe>",
                                   isPartitioning ? "--bp-compression-sort=function"
                                                  : "--call-graph-ordering-file=" + in("calls")};
  std::vector<const char *> pointers;
  for (const std::string &arg : args)
    pointers.push_back(arg.c_str());
  std::string said;
  raw_string_ostream os(said);
  bool isLinked = lld::elf::link(pointers, os, os, /*exitEarly=*/false, /*disableOutput=*/false);
  expect(isLinked, "lld", "it does not link:\n" + said);
  checkInputs();
  checkOrder();
  checkPatterns();
  checkOwnOrder();
  checkReplay();
  checkOutput();
  sys::fs::remove_directories(folder);
  return !hasFailed;
}

int main(int, char **argv) {
  outs().SetUnbuffered(); // also if lld crashes
  // lld has one order of its own in one link.
  pid_t child = fork();
  isPartitioning = child == 0;
  bool isGood = probe(argv[0]);
  int status = 0;
  if (child > 0)
    isGood &= waitpid(child, &status, 0) == child && status == 0;
  // As lld does: nothing is freed.
  _exit(!isGood);
}
