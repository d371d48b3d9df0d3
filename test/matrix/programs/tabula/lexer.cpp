// Cuts a query into tokens. Its helpers have namesakes in other files.
#include "lexer.h"
#include "errors.h"
#include "text.h"

namespace tabula {

static const char *const table[] = {"select", "from", "where", "order", "by",   "limit", "join",
                                    "on",     "and",  "or",    "not",   "desc", "group", "insert",
                                    "into",   "values", "create", "table", "null", "as"};

static int uses = 0;

static bool isSpace(char c) { return c == ' ' || c == '\n'; }

static bool isWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool isKeyword(std::string_view word) {
  ++uses;
  for (const char *keyword : table)
    if (word == keyword)
      return true;
  return false;
}

namespace {

class Cursor {
public:
  explicit Cursor(std::string_view q) : query(q) {}

  Token next() {
    while (at < query.size() && isSpace(query[at]))
      ++at;
    unsigned begin = at;
    if (at == query.size())
      return {TokenKind::End, {}, at};
    char c = query[at];
    if (c == '\'')
      return quoted(begin);
    if (!isWord(c))
      return symbol(begin);
    while (at < query.size() && isWord(query[at]))
      ++at;
    std::string_view word = query.substr(begin, at - begin);
    if (c >= '0' && c <= '9')
      return {TokenKind::Number, word, begin};
    return {isKeyword(word) ? TokenKind::Keyword : TokenKind::Name, word, begin};
  }

private:
  Token quoted(unsigned begin) {
    size_t end = query.find('\'', begin + 1);
    if (end == query.npos)
      failSyntax("a string without an end", begin);
    at = static_cast<unsigned>(end + 1);
    return {TokenKind::String, query.substr(begin + 1, end - begin - 1), begin};
  }

  Token symbol(unsigned begin) {
    static const char *const pairs[] = {"<=", ">=", "<>", "||"};
    for (const char *pair : pairs)
      if (query.substr(begin, 2) == pair) {
        at += 2;
        return {TokenKind::Symbol, query.substr(begin, 2), begin};
      }
    if (std::string_view("+-*/%=<>(),.;").find(query[begin]) == std::string_view::npos)
      failSyntax("a character that means nothing", begin);
    ++at;
    return {TokenKind::Symbol, query.substr(begin, 1), begin};
  }

  std::string_view query;
  unsigned at = 0;
};

} // namespace

std::vector<Token> tokenize(std::string_view query) {
  Cursor cursor(query);
  std::vector<Token> tokens;
  do
    tokens.push_back(cursor.next());
  while (tokens.back().kind != TokenKind::End);
  return tokens;
}

} // namespace tabula
