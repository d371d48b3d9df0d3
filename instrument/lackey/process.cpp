// What happens less often than once per access.
#include "process.h"

#include "access_log.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace frontload;

RecordedProcess::RecordedProcess(Modules &allModules, TraceFolder &folder, pid_t processId,
                                 const RecordedProcess *parent)
    : modules(allModules), pid(processId),
      trace(folder, {modules.program().path, modules.program().buildId}, pid) {
  recordedModule(modules.program()).traceNumber = 1;
  if (parent) {
    map = parent->map;
    readMap();
  }
}

void RecordedProcess::read(ArrayRef<char> bytes) {
  // The first thing in a log is said when the program is loaded and has not begun to run. That
  // takes valgrind some time, so that the map of the shortest program is read before it has ended.
  if (map.mappings().empty())
    readMap();
  StringRef text(bytes.data(), bytes.size());
  size_t length = text.rfind('\n') + 1; // 0 if there is none
  if (length == 0) {
    rest += text;
    // No line of an access is that long: it is rubbish.
    if (rest.size() > 65536)
      rest.clear();
    return;
  }
  if (!rest.empty()) {
    size_t first = text.find('\n') + 1;
    rest += text.take_front(first);
    readAccessLog(rest, *this);
    rest.clear();
    readAccessLog(text.slice(first, length), *this);
  } else {
    readAccessLog(text.take_front(length), *this);
  }
  rest = text.drop_front(length);
}

void RecordedProcess::message(StringRef line) {
  constexpr size_t enough = 8, longest = 300;
  if (line.consume_front("==") || line.consume_front("--")) { // "==123== " is valgrind's
    line = line.ltrim("0123456789");
    (void)(line.consume_front("==") || line.consume_front("--"));
  }
  line = line.trim();
  if (line.starts_with("Parent PID:")) { // ends what valgrind always says
    messageList.clear();
    return;
  }
  if (!line.empty() && messageList.size() < enough)
    messageList.push_back(line.take_front(longest).str());
}

void RecordedProcess::readMap() {
  map.read(pid, modules);
  loaderRun = 0;
  code = nullptr;
  codeMapping = nullptr;
  recorded.clear();
  for (const Mapping &mapping : map.mappings())
    if (mapping.module->isRecorded)
      recorded.push_back({mapping.begin(), mapping.end() - mapping.begin(), mapping.bias,
                          &recordedModule(*mapping.module)});
}

void RecordedProcess::enterRegion(uint64_t address) {
  constexpr uint64_t longestBinding = 1000;
  const Region *next = map.find(address);
  if (!next || (!next->isLoader && loaderRun > longestBinding)) {
    readMap();
    next = map.find(address);
  }
  code = next ? next : map.addUnknownPage(address);
  auto mapping = find_if(recorded, [&](const RecordedMapping &m) {
    return code->module && m.module->module == code->module && address - m.begin < m.size;
  });
  codeMapping = mapping == recorded.end() ? nullptr : &*mapping;
}

RecordedProcess::RecordedModule &RecordedProcess::recordedModule(const Module &module) {
  for (RecordedModule &known : recordedModules)
    if (known.module == &module)
      return known;
  uint64_t firstGranule = module.memoryBegin / granuleSize;
  uint64_t count = (module.memoryEnd + granuleSize - 1) / granuleSize - firstGranule;
  recordedModules.push_back({&module, 0, firstGranule, GranuleSet(count), GranuleSet(count)});
  return recordedModules.back();
}

void RecordedProcess::write(RecordedModule &module, frontload_record_kind kind, uint64_t address) {
  if (module.traceNumber == 0)
    module.traceNumber = trace.addModule({module.module->path, module.module->buildId});
  trace.addEvent(kind, module.traceNumber, address, pid);
}
