// Runs the command in valgrind and reads the logs of its processes while they grow.
//
// Valgrind writes the log of process N to the file N of a folder. For the first process this file
// is a pipe of one page, so the process cannot run ahead by more than some 300 accesses, and what
// the kernel says of its memory is still true. Valgrind follows forks by itself and opens a file
// for each child. That is an ordinary file, because we hear of the child only then. What was read
// of it is given back to the file system at once, so it needs little room. A forked child records
// what it touches from there on, whether or not its parent touched it before.
//
// Programs that the command executes (sh -c ./app) run without valgrind and are not recorded.
#ifndef FRONTLOAD_LACKEY_RECORDING_H
#define FRONTLOAD_LACKEY_RECORDING_H

#include "process.h"
#include "recorder/launch.h"

#include <map>

namespace frontload {

class Recording {
public:
  /// `command` writes its logs to `folder`, an empty one.
  Recording(Modules &modules, TraceFolder &traces, Command &command, std::string folder,
            const RecorderEnvironment &environment);
  ~Recording();
  Recording(const Recording &) = delete;
  Recording &operator=(const Recording &) = delete;

  /// Lets the command go, and returns its wait status when all recorded processes have ended.
  llvm::Expected<int> run();

  /// The first process.
  const RecordedProcess &program() const { return *mainProcess; }

private:
  struct Child {
    int log;
    uint64_t position;
    std::unique_ptr<RecordedProcess> process;
  };

  llvm::Error openLogs();
  void readMainLog();
  void readChildLog(Child &child);
  void readFolderEvents();
  void childAppears(const std::string &name);
  void childEnds(const std::string &name);
  void readSignal();
  bool isOver() const;

  Modules &modules;
  TraceFolder &traces;
  Command &command;
  std::string folder;
  const RecorderEnvironment &environment;

  int signals = -1, folderEvents = -1, mainLog = -1;
  bool isInterrupted = false;
  std::optional<int> status;
  std::vector<char> buffer;
  std::unique_ptr<RecordedProcess> mainProcess;
  std::map<std::string, Child> children; // by the name of the log
};

} // namespace frontload

#endif
