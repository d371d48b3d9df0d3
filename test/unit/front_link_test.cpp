// What the script of a link has, by what was found in the objects.
#include "plan/front_link.h"
#include "plan/front_script.h"
#include "yaml_object.h"

using namespace frontload;
using namespace llvm;

namespace {
class FrontLinkScript : public testing::Test {
protected:
  /// The script of a link whose profile has a function and a variable.
  std::string script(StringRef object) {
    StartupProfile profile;
    profile.entries.emplace_back().name = "hot";
    ProfileEntry &variable = profile.entries.emplace_back();
    variable.name = "variable";
    variable.kind = EntryKind::Data;
    variable.sectionClass = SectionClass::Data;
    profile.dataRuns = 1;
    FrontLink link(std::move(profile), "a.startup", LinkTraits());
    link.addObject({MemoryBufferRef(object, "a.o"), "", false});
    link.finishPlanning();
    link.beginTail();
    link.placeTail();
    return link.script();
  }
  static bool has(const std::string &script, Pattern pattern) {
    return StringRef(script).contains(textOf(pattern));
  }

  const std::string header = R"(Sections:
  - {Name: .text.hot, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Size: 16}
)";
  const std::string symbols = R"(
Symbols:
  - {Name: hot, Type: STT_FUNC, Section: .text.hot, Binding: STB_GLOBAL}
)";
  const std::string code = x86File("ET_REL", header + symbols);
  const std::string data = x86File(
      "ET_REL",
      header + "  - {Name: .data.v, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_WRITE], Size: 16}" +
          symbols +
          "  - {Name: variable, Type: STT_OBJECT, Section: .data.v, Binding: STB_GLOBAL}\n");
};
// lld looks at every section of the link for each pattern, so one that no section has is left out;
// what it would stand in is where it always is.
TEST_F(FrontLinkScript, HasNoPatternWithoutSections) {
  std::string text = script(code);
  EXPECT_TRUE(has(text, Pattern::Text));
  for (Pattern pattern : {Pattern::Data, Pattern::Relro})
    EXPECT_FALSE(has(text, pattern)) << textOf(pattern).str();
  EXPECT_TRUE(StringRef(text).contains(" .data.rel.ro : { }"));
  EXPECT_TRUE(has(script(data), Pattern::Data));
}

// Each pattern costs a look at every input section, so those that are not needed are not there.
TEST(FrontScript, HasOnlyThePatternsItNeeds) {
  PatternSet patterns = {};
  patterns[static_cast<unsigned>(Pattern::Text)] = true;
  std::string text = frontScript(patterns);
  EXPECT_TRUE(StringRef(text).contains(textOf(Pattern::Text)));
  for (Pattern absent : {Pattern::Rodata, Pattern::Relro, Pattern::Data, Pattern::Strings,
                         Pattern::NextText, Pattern::NextRodata})
    EXPECT_FALSE(StringRef(text).contains(textOf(absent)));
}

// What is not wanted in the front is told by what it holds; without any there is nothing to tell.
TEST(FrontScript, MovesWhatIsNotWanted) {
  EXPECT_EQ(behindScript({}), "");
  OutputsBehind behind;
  behind.constants = {"blob"};
  behind.data = {"pool"};
  EXPECT_EQ(behindScript(behind), "SECTIONS {\n  \"blob\" : { }\n} INSERT AFTER .eh_frame;\n"
                                  "SECTIONS {\n  \"pool\" : { }\n} INSERT BEFORE .data;\n");
}
} // namespace
