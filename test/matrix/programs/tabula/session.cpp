// A session: lines in, text out. Errors of all other files end here.
#include "session.h"
#include "errors.h"
#include "format.h"
#include "functions.h"
#include "sorting.h"
#include "stats.h"

namespace tabula {

Session::Session(Output &o) : out(o) {}
Session::~Session() { out.flush(); }

static void report(const Error &error, Output &out) {
  out << error.kind() << ": " << error.what() << "\n";
}

bool Session::line(std::string_view text) {
  text = trim(text);
  if (text.empty())
    return true;
  try {
    if (text.front() == '.')
      command(text.substr(1));
    else
      query(text);
    return true;
  } catch (const Error &error) {
    report(error, out);
  }
  ++errors;
  return false;
}

void Session::query(std::string_view text) {
  Step step = plan(parseQuery(text));
  long rows = run(*step, formatNamed(format), out);
  out << "(" << rows << (rows == 1 ? " row)\n" : " rows)\n");
}

static void listTables(Output &out) {
  for (auto &[name, table] : catalog().tables)
    if (table)
      out << name << ": " << static_cast<long>(table->rows.size()) << " rows\n";
}

static void listColumns(std::string_view name, Output &out) {
  for (const Column &column : catalog().get(name).schema.columns)
    out << column.name << " " << column.type->name() << "\n";
}

static void listFunctions(Output &out) {
  // They come from several files, whose order before main nobody promises.
  std::vector<std::string> names;
  for (auto &[name, function] : functions())
    names.push_back(name + "/" + number(static_cast<long>(function.arguments)));
  stableSort(names, [](const std::string &a, const std::string &b) { return a < b; });
  for (const std::string &name : names)
    out << name << " ";
  out << "\n";
}

static void listFormats(Output &out) {
  unsigned formats = 0;
  for (Format *format = firstFormat(); format; format = format->next)
    ++formats;
  out << static_cast<long>(formats) << " formats\n";
}

static void drop(std::string_view name, Output &out) {
  out << (catalog().drop(name) ? "dropped " : "no ") << name << "\n";
}

void Session::command(std::string_view text) {
  using Handler = void (*)(Session &, std::string_view);
  static const struct {
    const char *name;
    Handler handler;
  } table[] = {
      {"tables", [](Session &s, std::string_view) { listTables(s.out); }},
      {"columns", [](Session &s, std::string_view rest) { listColumns(rest, s.out); }},
      {"functions", [](Session &s, std::string_view) { listFunctions(s.out); }},
      {"formats", [](Session &s, std::string_view) { listFormats(s.out); }},
      {"format", [](Session &s, std::string_view rest) { s.format = formatNamed(rest).name; }},
      {"drop", [](Session &s, std::string_view rest) { drop(rest, s.out); }},
      {"show", [](Session &s, std::string_view rest) { s.out << show(*parseExpression(rest)) << "\n"; }},
      {"fold", [](Session &s, std::string_view rest) { s.out << show(*fold(parseExpression(rest))) << "\n"; }},
      {"counts", [](Session &s, std::string_view) { showCounts(s.out); }},
      {"thread", [](Session &s, std::string_view) { inThread(showCounts, s.out); }},
      {"errors", [](Session &s, std::string_view) { s.out << static_cast<long>(s.errors) << " errors\n"; }},
  };
  std::string_view word = text.substr(0, text.find(' '));
  for (const auto &entry : table)
    if (word == entry.name)
      return entry.handler(*this, trim(text.substr(word.size())));
  failName(word);
}

EchoSession::~EchoSession() { out << "bye\n"; }

bool EchoSession::line(std::string_view text) {
  out << "> " << text << "\n";
  return Session::line(text);
}

} // namespace tabula
