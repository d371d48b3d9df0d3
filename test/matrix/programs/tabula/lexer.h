// Cuts a query into tokens.
#pragma once
#include <string_view>
#include <vector>

namespace tabula {

enum class TokenKind { Name, Keyword, Number, String, Symbol, End };

struct Token {
  TokenKind kind;
  std::string_view text;
  unsigned position;
};

std::vector<Token> tokenize(std::string_view query);

} // namespace tabula
