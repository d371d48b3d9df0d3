"""One bad file among several, of a verb that makes one thing of all of them and has no
--allow-partial: nothing is made, and the file is named."""

import pytest
from frontload.reading import listing
from frontload.reading.listing import MAP, PAGE, File, PrefetchList, Touch

pytestmark = pytest.mark.usefixtures("tools")
BEFORE = '{"what": "was there before"}\n'
LIST = listing.to_bytes(PrefetchList(1, {File("/a", 9 * PAGE, 1): {3: Touch(0, 1, MAP)}}))


@pytest.mark.parametrize("verb", ["files", "order", "predict", "predict starts"])
def test_one_bad_file_ends_the_work(verb, link, startup, cli, tmp_path):
    """It is told with its reason, and the previous output stays."""
    output = tmp_path / "output.json"
    output.write_text(BEFORE)
    make, data = {
        "files": (["files", "-o", output], lambda: LIST),
        "predict starts": (["predict", "--json", output], lambda: LIST),
        "predict": (["predict", "--json", output],
                    lambda: link().trace(tmp_path / "t", "main").read_bytes()),
        "order": (["order", "--linker", "lld", "-o", output],
                  lambda: startup("main").read_bytes())}[verb]
    files = [tmp_path / f"{number}.in" for number in range(3)]
    for file in files:
        file.write_bytes(data())
    bad = files[1]
    bad.write_bytes(bad.read_bytes()[:-3])
    result = cli(*make, *files, code=65)
    assert result.err.startswith(f"frontload: error: {bad}:")
    assert output.read_text() == BEFORE
    cli(*make, *(path for path in files if path != bad))
    assert output.read_text() != BEFORE
