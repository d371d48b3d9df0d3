"""Chains of one-way constraints, planned and solved again and again: calls of small methods of many
classes, as pyperformance's deltablue."""


class Variable:
    def __init__(self, value):
        self.value, self.mark, self.uses = value, 0, []


class Constraint:
    def __init__(self, source, target, strength):
        self.source, self.target, self.strength = source, target, strength
        source.uses.append(self)

    def is_weaker(self, other):
        return self.strength < other.strength

    def execute(self):
        self.target.value = self.source.value


class Scale(Constraint):
    def __init__(self, source, target, strength, factor, offset):
        super().__init__(source, target, strength)
        self.factor, self.offset = factor, offset

    def execute(self):
        self.target.value = self.source.value * self.factor + self.offset


class Planner:
    def __init__(self):
        self.mark = 0

    def plan(self, start):
        self.mark += 1
        order, todo = [], [start]
        while todo:
            variable = todo.pop()
            if variable.mark == self.mark:
                continue
            variable.mark = self.mark
            best = None
            for constraint in variable.uses:
                order.append(constraint)
                todo.append(constraint.target)
                if best is None or best.is_weaker(constraint):
                    best = constraint
        return order


def chain(length):
    variables = [Variable(i) for i in range(length + 1)]
    for i in range(length):
        kind, more = (Constraint, ()) if i % 2 else (Scale, (1, i % 7))
        kind(variables[i], variables[i + 1], i % 5, *more)
    planner = Planner()
    for value in range(0, 100, 5):
        variables[0].value = value
        for constraint in planner.plan(variables[0]):
            constraint.execute()
    return variables[-1].value


print(sum(chain(400) for _ in range(60)))
