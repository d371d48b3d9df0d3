// What --help says before lld does.
//
// This describes only what lld does not know. The man page and the completions of ld.frontload are
// made from this text too (scripts/frontload/cli/manual.py), up to lld's own help.
#pragma once

namespace frontload {

inline constexpr char ownHelp[] = R"help(usage: ld.frontload [options] FILE...

Links as ld.lld does, and lays out a front. Without a startup profile, its output is ld.lld's, byte
for byte. The compiler calls it: clang with --ld-path, gcc as the ld.lld in a -B folder.

With a profile, it packs the relative relocations of what it links with glibc 2.36 or newer, which
then is needed where that runs. -z nopack-relative-relocs leaves them as they are.

options:
  --startup-profile=FILE  place what the profile names in a contiguous front
  --startup-profile-dir=DIR
                          the same with the profile DIR/NAME.startup, where NAME is the name of the
                          output; without that file, link without a front
  --front=auto            without a profile, place what every start likely needs; a link that cannot
                          have a front goes on without one
  --front-prefetch[=inside]
                          make the program read its front in one go when it starts; it then needs
                          libfrontload-prefetch.so.1, and does not start without it. With =inside,
                          the program has that code inside and needs no library; the code runs
                          when the relative relocations are done, and so somewhat later
  --min-match=PERCENT     fail if fewer of the profile's names are found (default: 80; 0: never)
  --front-align=SIZE      begin the code at a multiple of SIZE in file and memory, for large folios:
                          64K or 2M (default: no more than a page; it costs up to SIZE of padding)
  --front-always          keep the front even if a cold start would read more with it than without
                          it; by default, such a file is linked again without a front
  --front-never           link without a front; the profile stays a dependency of the output
  --front-report=FILE     write what was placed, and what was not found, as JSON

examples:
  # link with clang; the program prefetches its front when it starts, by a library beside it
  clang++ *.o --ld-path="$(which ld.frontload)" -Wl,--startup-profile=app.startup \
    -Wl,--front-prefetch -Wl,-rpath,'$ORIGIN' -o app.front
  # link with gcc (PREFIX is where Frontload is installed), with profiles in the folder startup
  g++ *.o -B PREFIX/lib/frontload/gcc -fuse-ld=lld -Wl,--startup-profile-dir=startup -o app.front

exit status:
  0    linked
  1    lld failed, or fewer than --min-match percent of the profile's names were found
  2    the command line is wrong, or a file on it cannot be read or written
  65   the contents of a file are bad

All other options are those of ld.lld:

)help";

} // namespace frontload
