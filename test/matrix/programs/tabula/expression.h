// Expressions: a tree of nodes, and those who visit it.
#pragma once
#include "value.h"
#include <memory>

namespace tabula {

struct Literal;
struct ColumnReference;
struct Unary;
struct Binary;
struct Call;

class Visitor {
public:
  virtual ~Visitor();
  virtual void visit(Literal &) = 0;
  virtual void visit(ColumnReference &) = 0;
  virtual void visit(Unary &) = 0;
  virtual void visit(Binary &) = 0;
  virtual void visit(Call &) = 0;
};

struct Expression {
  virtual ~Expression();
  virtual void accept(Visitor &v) = 0;
};
using Tree = std::unique_ptr<Expression>;

struct Literal final : Expression {
  explicit Literal(Value v);
  ~Literal() override;
  void accept(Visitor &v) override;
  Value value;
};

struct ColumnReference final : Expression {
  explicit ColumnReference(std::string_view name);
  ~ColumnReference() override;
  void accept(Visitor &v) override;
  std::string name;
  int index = -1;
};

struct Unary final : Expression {
  Unary(std::string_view symbol, Tree operand);
  ~Unary() override;
  void accept(Visitor &v) override;
  std::string symbol;
  Tree operand;
};

struct Binary final : Expression {
  Binary(std::string_view symbol, Tree left, Tree right);
  ~Binary() override;
  void accept(Visitor &v) override;
  std::string symbol;
  Tree left, right;
};

struct Call final : Expression {
  Call(std::string_view name, std::vector<Tree> arguments);
  ~Call() override;
  void accept(Visitor &v) override;
  std::string name;
  std::vector<Tree> arguments;
};

struct Schema;

/// The value of an expression for a row.
Value evaluate(Expression &tree, const Row &row);
/// Tells the columns of an expression where they are; a name that is not there is an error.
void bind(Expression &tree, const Schema &schema);
/// Computes what is constant.
Tree fold(Tree tree);
/// The expression as text.
std::string show(Expression &tree);

} // namespace tabula
