// What is left of lld's own orders when the front is taken out.
#include "lld/rest_order.h"
#include "lld/section_list.h"
#include "yaml_object.h"
#include <deque>

using namespace frontload;
using namespace llvm;

namespace {
/// A link of one object whose function `hot` is in the front, and whose `cold` is not.
class RestOrder : public testing::Test {
protected:
  RestOrder() {
    link.addObject({MemoryBufferRef(object, "a.o"), "", false});
    link.finishPlanning();
    link.beginTail();
    link.placeTail();
  }

  static StartupProfile profile() {
    StartupProfile result;
    result.entries.emplace_back().name = "hot";
    return result;
  }
  /// A name as lld has it: where it is in the object.
  StringRef inObject(StringRef name) const {
    return StringRef(object).substr(object.find(name.str() + '\0'), name.size());
  }
  const lld::elf::InputSectionBase *section(StringRef name) {
    return reinterpret_cast<const lld::elf::InputSectionBase *>(&heads.emplace_back(&object, name));
  }

  std::string object = x86File("ET_REL", R"(Sections:
  - {Name: .text.hot, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Size: 16}
  - {Name: .text.cold, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Size: 16}
Symbols:
  - {Name: hot, Type: STT_FUNC, Section: .text.hot, Binding: STB_GLOBAL}
  - {Name: cold, Type: STT_FUNC, Section: .text.cold, Binding: STB_GLOBAL}
)");
  FrontLink link{profile(), "a.startup", LinkTraits()};
  std::deque<SectionHead> heads;
};
// The order says nothing of the front any more, and of others what it said; lld's own sections, as
// for common symbols, have a name that is in no object. The code that every run enters is in it if
// it is to have that order.
TEST_F(RestOrder, HasAllButTheFront) {
  const auto *hot = section(inObject(".text.hot")), *cold = section(inObject(".text.cold")),
             *common = section("COMMON");
  SectionOrder order;
  order[hot] = 1, order[cold] = 2, order[common] = 3;
  for (bool ordersFront : {false, true}) {
    SectionOrder rest = restOf(order, link, ordersFront);
    EXPECT_EQ(rest.contains(hot), ordersFront);
    EXPECT_EQ(rest.lookup(hot), 0);
    EXPECT_EQ(rest.lookup(cold), 2);
    EXPECT_EQ(rest.lookup(common), 3);
    EXPECT_EQ(rest.size(), ordersFront ? 3u : 2u);
  }
  // Where no order was made there is none left.
  EXPECT_TRUE(restOf(SectionOrder(), link).empty());
}
} // namespace
