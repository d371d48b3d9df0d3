// Which names the profile of an output may have.
#include "profile/profile_file.h"
#include <gtest/gtest.h>

using namespace frontload;

TEST(ProfileNames, AreThoseOfOutputs) {
  struct {
    const char *output;
    std::vector<std::string> expected;
  } cases[] = {// It is called as the output is, wherever that is.
               {"app", {"app"}},
               {"/some/where.d/my app.exe", {"my app.exe"}},
               {"libfoo.so", {"libfoo.so"}},
               // A library's version may change, and its name stays.
               {"lib/libfoo.so.1", {"libfoo.so"}},
               {"libfoo-2.0.so.1.2.3", {"libfoo-2.0.so"}},
               {"libc.so.d.so.6", {"libc.so.d.so"}},
               // These are no versions.
               {"libfoo.so.debug", {"libfoo.so.debug"}},
               {"app.1", {"app.1"}},
               // What libtool links to be renamed or to be used before it is installed.
               {".libs/libfoo.so.1.2.3T", {"libfoo.so"}},
               {".libs/libfoo.soT", {"libfoo.so"}},
               {"src/.libs/lt-app", {"lt-app", "app"}},
               {"lt-proc", {"lt-proc"}},
               // Cargo's hash changes with each compiler; its own name comes first all the same.
               {"deps/my_app-0123456789abcdef", {"my_app-0123456789abcdef", "my_app", "my-app"}},
               {"libx-fedcba9876543210.so", {"libx-fedcba9876543210.so", "libx.so"}},
               {"app-0123456789abcde", {"app-0123456789abcde"}},
               {"app-0123456789abcdeF", {"app-0123456789abcdeF"}},
               {"-0123456789abcdef", {"-0123456789abcdef"}}};
  for (auto &[output, expected] : cases) {
    for (std::string &name : expected)
      name += ".startup";
    EXPECT_EQ(profileNames(output), expected) << output;
  }
}
