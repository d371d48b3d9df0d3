// Parses queries by recursive descent.
#include "errors.h"
#include "lexer.h"
#include "query.h"
#include "text.h"

namespace tabula {

namespace {

class Parser {
public:
  explicit Parser(std::string_view text) : tokens(tokenize(text)) {}

  Query query();
  Tree expression(int level = 0);
  void end();

private:
  bool accept(TokenKind kind, std::string_view text);
  void expect(TokenKind kind, std::string_view text);
  bool keyword(std::string_view text) { return accept(TokenKind::Keyword, text); }
  bool symbol(std::string_view text) { return accept(TokenKind::Symbol, text); }
  std::string name();
  std::string qualifiedName();
  long integer();
  Tree primary();
  void columns(Query &q);

  const Token &token() const { return tokens[at]; }

  std::vector<Token> tokens;
  unsigned at = 0;
};

/// The operators by how tightly they bind, from loosely on.
struct Level {
  const char *symbols[6];
};
const Level table[] = {{{"or"}}, {{"and"}}, {{"=", "<>", "<", ">", "<=", ">="}},
                       {{"+", "-", "||"}}, {{"*", "/", "%"}}};
constexpr int numLevels = 5;

} // namespace

static std::string describe(const Token &token) {
  return token.kind == TokenKind::End ? "the end" : "`" + std::string(token.text) + "`";
}

bool Parser::accept(TokenKind kind, std::string_view text) {
  if (token().kind != kind || token().text != text)
    return false;
  ++at;
  return true;
}

void Parser::expect(TokenKind kind, std::string_view text) {
  if (!accept(kind, text))
    failSyntax("wanted `" + std::string(text) + "`, not " + describe(token()), token().position);
}

std::string Parser::name() {
  if (token().kind != TokenKind::Name)
    failSyntax("wanted a name, not " + describe(token()), token().position);
  return std::string(tokens[at++].text);
}

std::string Parser::qualifiedName() {
  std::string result = name();
  while (symbol(".")) {
    result += ".";
    result += name();
  }
  return result;
}

long Parser::integer() {
  long n;
  if (token().kind != TokenKind::Number || !parseNumber(token().text, n))
    failSyntax("wanted a number, not " + describe(token()), token().position);
  ++at;
  return n;
}

void Parser::end() {
  symbol(";");
  if (token().kind != TokenKind::End)
    failSyntax("wanted the end, not " + describe(token()), token().position);
}

Tree Parser::primary() {
  if (symbol("(")) {
    Tree inner = expression();
    expect(TokenKind::Symbol, ")");
    return inner;
  }
  if (symbol("-"))
    return std::make_unique<Unary>("-", primary());
  if (keyword("not"))
    return std::make_unique<Unary>("not", primary());
  if (keyword("null"))
    return std::make_unique<Literal>(Value());
  if (token().kind == TokenKind::Number)
    return std::make_unique<Literal>(Value(&integerType(), integer()));
  if (token().kind == TokenKind::String)
    return std::make_unique<Literal>(Value(&textType(), std::string(tokens[at++].text)));
  std::string found = qualifiedName();
  if (!symbol("("))
    return std::make_unique<ColumnReference>(found);
  std::vector<Tree> arguments;
  if (!symbol(")")) {
    do
      arguments.push_back(expression());
    while (symbol(","));
    expect(TokenKind::Symbol, ")");
  }
  return std::make_unique<Call>(found, std::move(arguments));
}

Tree Parser::expression(int level) {
  if (level == numLevels)
    return primary();
  Tree left = expression(level + 1);
  for (;;) {
    const char *found = nullptr;
    for (const char *candidate : table[level].symbols)
      if (candidate && (level < 2 ? keyword(candidate) : symbol(candidate))) {
        found = candidate;
        break;
      }
    if (!found)
      return left;
    Tree right = expression(level + 1);
    left = std::make_unique<Binary>(found, std::move(left), std::move(right));
  }
}

void Parser::columns(Query &q) {
  if (symbol("*"))
    return;
  do {
    unsigned begin = token().position;
    q.columns.push_back(expression());
    if (keyword("as"))
      q.titles.push_back(name());
    else
      q.titles.push_back("c" + number(begin));
  } while (symbol(","));
}

Query Parser::query() {
  Query q;
  expect(TokenKind::Keyword, "select");
  columns(q);
  expect(TokenKind::Keyword, "from");
  q.table = name();
  if (keyword("join")) {
    q.joined = name();
    expect(TokenKind::Keyword, "on");
    q.leftKey = qualifiedName();
    expect(TokenKind::Symbol, "=");
    q.rightKey = qualifiedName();
  }
  if (keyword("where"))
    q.where = expression();
  if (keyword("group")) {
    expect(TokenKind::Keyword, "by");
    q.groupBy = qualifiedName();
  }
  if (keyword("order")) {
    expect(TokenKind::Keyword, "by");
    q.orderBy = qualifiedName();
    q.isDescending = keyword("desc");
  }
  if (keyword("limit"))
    q.limit = integer();
  return q;
}

Query parseQuery(std::string_view text) {
  Parser parser(text);
  Query q = parser.query();
  parser.end();
  return q;
}

Tree parseExpression(std::string_view text) {
  Parser parser(text);
  Tree tree = parser.expression();
  parser.end();
  return tree;
}

} // namespace tabula
