//===- own_help.h - what --help says before lld does -----------------------===//
//
// Only what lld does not know. Its man page and its completions are made of this text too
// (scripts/frontload/manual/programs.py), up to where lld's own help begins.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_OWN_HELP_H
#define FRONTLOAD_LLDPLUGIN_LLD_OWN_HELP_H

namespace frontload {

inline constexpr char ownHelp[] = R"(usage: ld.frontload [options] FILE...

Links as ld.lld does, and lays out a front. Without a startup profile its output is ld.lld's, byte
for byte. A compiler calls it: clang with --ld-path, gcc as the ld.lld in a -B folder.

options:
  --startup-profile=FILE  place what the profile names in a contiguous front
  --startup-profile-dir=DIR
                          the same with DIR/NAME.startup, NAME being that of the output; link
                          without a front if there is no such file
  --front-prefetch        make the program read its front in one go when it starts; it then needs
                          libfrontload-prefetch.so.1
  --min-match=PERCENT     fail if less of the profile's names are found (default: 80; 0: never)
  --front-report=FILE     write what was placed, and what was not found, as JSON
  --lld=PATH              have this lld link, of whatever version, not the built-in one

examples:
  # with clang; the program asks for its front when it starts, by a library beside it
  clang++ *.o --ld-path=$(which ld.frontload) -Wl,--startup-profile=app.startup \
    -Wl,--front-prefetch -Wl,-rpath,'$ORIGIN' -o app.front
  # with gcc, PREFIX being where Frontload is installed; each output has its profile in startup
  g++ *.o -B PREFIX/lib/frontload/gcc -fuse-ld=lld -Wl,--startup-profile-dir=startup -o app.front

exit status:
  0    linked
  1    lld has failed, or less than --min-match percent of the profile's names were found
  2    the command line is wrong, or a file that it names cannot be read or written
  65   what a file contains is bad

All other options are those of ld.lld:

)";

} // namespace frontload

#endif
