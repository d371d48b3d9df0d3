// Results as JSON.
#include "format.h"

namespace tabula {

static int uses = 0;

static const struct {
  char character;
  const char *escaped;
} table[] = {{'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'\t', "\\t"}};

static void escape(std::string_view s, Output &out) {
  for (char c : s) {
    std::string_view written(&c, 1);
    for (const auto &entry : table)
      if (c == entry.character)
        written = entry.escaped;
    out << written;
  }
}

namespace {

class Writer : public Format {
public:
  Writer() : Format("json") {}
  void begin(const Schema &schema, Output &out) override {
    titles.clear();
    for (const Column &column : schema.columns)
      titles.push_back(column.name);
    out << "[";
    uses = 0;
  }
  void row(const Row &row, Output &out) override {
    out << (uses++ ? ",\n {" : "\n {");
    for (size_t i = 0; i < row.size(); ++i) {
      out << (i ? ", \"" : "\"");
      escape(titles[i], out);
      out << "\": ";
      value(row[i], out);
    }
    out << "}";
  }
  void end(Output &out) override { out << "\n]\n"; }

private:
  void value(const Value &v, Output &out) {
    bool isText = v.type && !v.type->isRightAligned();
    out << (isText ? "\"" : "");
    escape(v.isNull() ? "null" : show(v), out);
    out << (isText ? "\"" : "");
  }

  std::vector<std::string> titles;
};

Writer writer;

} // namespace

} // namespace tabula
