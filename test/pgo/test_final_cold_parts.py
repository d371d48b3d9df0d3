"""Cold parts of the final program, by what its own start enters: the cheap third step."""

from linking import Image
from shared_run import function_names

pytest_plugins = ["shared_fixture"]


def cold_parts(image) -> set[str]:
    return {name for name in image.symbols if ".cold" in name and not name.startswith("_")}


def test_cold_parts_that_the_shared_run_cannot_know(shared):
    """Are not in the front, where their functions are, but come first behind it."""
    assert "cold-parts unknown" in shared.startup.read_text().splitlines()
    image = shared.link_final("tool", shared.startup)
    parts = cold_parts(image)
    assert "check.cold" in parts
    assert {image.section_of(name) for name in parts} == {".text"}
    first = min(image.symbols[name].address for name in parts)
    assert first == image.sections[".text"]["sh_addr"]
    assert image.section_of("check") == ".text.front"


def test_a_cold_part_that_a_start_enters_is_in_the_front(shared):
    """What was trained is not all that users do: recorded once more, the final program enters a
    part that the compiler took for cold, and has it in its front after one more link."""
    shared.link_final("tool.once", shared.startup)
    again = shared.record_final("tool.once", "one", "two", "three", "four")
    entered = {name for name in function_names(again) if name.endswith(".cold")}
    assert "check.cold" in entered
    image = shared.link_final("tool.again", again)
    assert image.symbols["check.cold"].address > image.symbols["check"].address
    assert entered == {name for name in cold_parts(image)
                       if image.section_of(name) == ".text.front"}
    others = cold_parts(image) - entered
    assert {image.section_of(name) for name in others} <= {".text.unlikely", ".text.split"}
    assert image.section_of("never") == ".text.unlikely"


def test_without_sections_for_cold_code(shared):
    """Where the linker was not told to keep cold code apart, the front has none of it either."""
    shared.link("tool.mixed", f"-Wl,--startup-profile={shared.startup}")
    image = Image(shared.folder / "tool.mixed")
    assert {image.section_of(name) for name in cold_parts(image)} == {".text"}
    assert {image.section_of(name) for name in ("main", "check")} == {".text.front"}
