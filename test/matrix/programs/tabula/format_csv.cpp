// Values separated by commas: written, and read.
#include "errors.h"
#include "format.h"

namespace tabula {

static int uses = 0;

static void escape(std::string_view s, Output &out) {
  if (s.find_first_of(",\"\n") == s.npos) {
    out << s;
    return;
  }
  out << "\"";
  for (char c : s)
    out << (c == '"' ? std::string_view("\"\"") : std::string_view(&c, 1));
  out << "\"";
}

static Row parseLine(const Schema &schema, std::string_view line) {
  Row row;
  for (std::string_view part : split(line, ',')) {
    if (row.size() == schema.columns.size())
      throw Error("more values than columns in " + std::string(line));
    row.push_back(trim(part).empty() ? Value() : schema.columns[row.size()].type->parse(part));
  }
  return row;
}

unsigned loadLines(Table &table, std::string_view lines) {
  unsigned loaded = 0;
  for (std::string_view line : split(lines, '\n'))
    if (!trim(line).empty()) {
      table.insert(parseLine(table.schema, line));
      ++loaded;
    }
  return loaded;
}

namespace {

class Writer : public Format {
public:
  Writer() : Format("csv") {}
  void begin(const Schema &schema, Output &out) override {
    ++uses;
    for (const Column &column : schema.columns)
      write(column.name, &column == &schema.columns.back(), out);
  }
  void row(const Row &row, Output &out) override {
    for (const Value &value : row)
      write(show(value), &value == &row.back(), out);
  }

private:
  static void write(std::string_view s, bool isLast, Output &out) {
    escape(s, out);
    out << (isLast ? "\n" : ",");
  }
};

Writer writer;

} // namespace

} // namespace tabula
