//===- old_file.h - the file that an output takes the place of -------------===//
//
// The process that removes a file's last name or descriptor waits until the kernel has freed its
// blocks: 110 ms for 200 MB that ext4 has written out, a tenth of the link. lld removes the
// previous output in a thread while it links. Here it stays until the new one takes its place, so
// that a failed link loses nothing. Then another process closes it last, and the link need not
// wait. (For the same reason mold goes on in a child when its output is complete.)
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROGRAM_OLD_FILE_H
#define FRONTLOAD_LLDPLUGIN_PROGRAM_OLD_FILE_H

#include <string>

namespace frontload {

/// A file whose name is about to go to another one.
class OldFile {
public:
  /// Holds the file at `path` if it is large and has no other name. Other files are freed as usual.
  explicit OldFile(const std::string &path);
  OldFile(const OldFile &) = delete;
  OldFile(OldFile &&other) : descriptor(other.descriptor) { other.descriptor = -1; }
  ~OldFile();

  /// Frees the file in the background: to be called when it has no name any more.
  void letGo();

private:
  int descriptor = -1;
};

} // namespace frontload

#endif
