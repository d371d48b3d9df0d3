// The nodes of expressions.
#include "expression.h"

namespace tabula {

Visitor::~Visitor() = default;
Expression::~Expression() = default;

Literal::Literal(Value v) : value(std::move(v)) {}
Literal::~Literal() = default;
void Literal::accept(Visitor &v) { v.visit(*this); }

ColumnReference::ColumnReference(std::string_view n) : name(n) {}
ColumnReference::~ColumnReference() = default;
void ColumnReference::accept(Visitor &v) { v.visit(*this); }

Unary::Unary(std::string_view s, Tree o) : symbol(s), operand(std::move(o)) {}
Unary::~Unary() = default;
void Unary::accept(Visitor &v) { v.visit(*this); }

Binary::Binary(std::string_view s, Tree l, Tree r)
    : symbol(s), left(std::move(l)), right(std::move(r)) {}
Binary::~Binary() = default;
void Binary::accept(Visitor &v) { v.visit(*this); }

Call::Call(std::string_view n, std::vector<Tree> a) : name(n), arguments(std::move(a)) {}
Call::~Call() = default;
void Call::accept(Visitor &v) { v.visit(*this); }

} // namespace tabula
