// What the script of a link has, by what was found in the objects.
#include "plan/front_link.h"
#include "yaml_object.h"

using namespace frontload;
using namespace llvm;

namespace {
class FrontLinkScript : public testing::Test {
protected:
  /// The script of a link whose profile has a function and a variable.
  std::string script(StringRef object, bool expectsObjects = false) {
    StartupProfile profile;
    profile.entries.emplace_back().name = "hot";
    ProfileEntry &variable = profile.entries.emplace_back();
    variable.name = "variable";
    variable.kind = EntryKind::Data;
    variable.sectionClass = SectionClass::Data;
    profile.dataRuns = 1;
    FrontLink link(std::move(profile), "a.startup", LinkTraits());
    link.addObject({MemoryBufferRef(object, "a.o"), "", false});
    if (expectsObjects)
      link.expectObjects();
    link.finishPlanning();
    return link.laterScript();
  }
  static bool has(const std::string &script, Pattern pattern) {
    return StringRef(script).contains(textOf(pattern));
  }

  const std::string header = R"(--- !ELF
FileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_REL, Machine: EM_X86_64}
Sections:
  - {Name: .text.hot, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Size: 16}
)";
  const std::string symbols = R"(
Symbols:
  - {Name: hot, Type: STT_FUNC, Section: .text.hot, Binding: STB_GLOBAL}
)";
  const std::string code = toObject(header + symbols);
  const std::string data = toObject(
      header + "  - {Name: .data.v, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_WRITE], Size: 16}" +
      symbols + "  - {Name: variable, Type: STT_OBJECT, Section: .data.v, Binding: STB_GLOBAL}\n");
};
} // namespace

// lld looks at every section of the link for each pattern, so one that no section has is left out;
// what it would stand in is where it always is.
TEST_F(FrontLinkScript, HasNoPatternWithoutSections) {
  std::string text = script(code);
  EXPECT_TRUE(has(text, Pattern::Text));
  for (Pattern pattern : {Pattern::Data, Pattern::NextText, Pattern::NextRodata, Pattern::Relro})
    EXPECT_FALSE(has(text, pattern)) << textOf(pattern).str();
  for (StringRef output : {" .text : { }", " .rodata : { }", " .data.rel.ro : { }"})
    EXPECT_TRUE(StringRef(text).contains(output)) << output.str();
  EXPECT_TRUE(has(script(data), Pattern::Data));
}

// Link-time optimization makes objects when the script is read: nobody knows what they have.
TEST_F(FrontLinkScript, HasAllPatternsIfObjectsAreToCome) {
  std::string text = script(code, /*expectsObjects=*/true);
  for (Pattern pattern : {Pattern::Text, Pattern::Data, Pattern::NextText, Pattern::NextRodata})
    EXPECT_TRUE(has(text, pattern)) << textOf(pattern).str();
}
