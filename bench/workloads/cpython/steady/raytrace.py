"""Spheres over a floor, seen by rays: floating point in methods of small objects, as
pyperformance's raytrace."""

import math


class Vector:
    __slots__ = ("x", "y", "z")

    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def scaled(self, factor):
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def unit(self):
        return self.scaled(1 / math.sqrt(self.dot(self)))


class Sphere:
    def __init__(self, center, radius):
        self.center, self.radius = center, radius

    def hit(self, origin, direction):
        away = self.center - origin
        along = away.dot(direction)
        rest = self.radius ** 2 - (away.dot(away) - along * along)
        if rest < 0:
            return None
        distance = along - math.sqrt(rest)
        return distance if distance > 1e-6 else None

    def normal(self, point):
        return (point - self.center).unit()


class Floor:
    def hit(self, origin, direction):
        return -origin.y / direction.y if direction.y < -1e-6 and origin.y > 1e-6 else None

    def normal(self, point):
        return Vector(0, 1, 0)


SCENE = [Sphere(Vector(i * 1.5 - 4, 1 + i % 3, 6 + i % 2), 0.9) for i in range(6)] + [Floor()]


def light(origin, direction, depth=0):
    found = [(t, thing) for thing in SCENE if (t := thing.hit(origin, direction)) is not None]
    if not found or depth > 2:
        return 0.5 + direction.y / 2
    distance, thing = min(found, key=lambda pair: pair[0])
    point = origin + direction.scaled(distance)
    normal = thing.normal(point)
    mirrored = direction - normal.scaled(2 * direction.dot(normal))
    return 0.6 * max(0, normal.dot(Vector(0.5, 0.7, -0.5))) + 0.4 * light(point, mirrored,
                                                                         depth + 1)


SIZE = 90
print(f"{sum(light(Vector(0, 2, -6), Vector(x / SIZE - .5, .3 - y / SIZE, 1).unit()) for y in range(SIZE) for x in range(SIZE)):.6f}")  # noqa: E501
