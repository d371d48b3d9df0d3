"""Commands and response files, as frontload auto takes them apart: what any text does to them."""

from frontload.auto import link_command
from frontload.base import response_files
from hypothesis import given
from hypothesis import strategies as st


@given(st.text("abcgo.-+=/ \t\n\"'\\$(){}|&;<>#`*?[]~:")
       | st.lists(st.sampled_from(["cd", "cc", "env", "A=b", "-o", "x", "&&", ";", "(", "'", "$(",
                                   "nice", "-n", "cmake", "-E", "time", "--", "<<E", "\n"])
                  ).map(" ".join))
def test_any_text_is_gone_through_without_running_it(text):
    """Logs and build files hold what one likes: what is no command is left out."""
    for link in link_command.in_text(text, "/build", "a test", evaluate=False):
        assert link.arguments and link_command.is_link(link.arguments)


@given(st.lists(st.text()))
def test_arguments_are_read_from_what_was_written_for_them(words):
    assert response_files.words(response_files.text(words)) == words


@given(st.text())
def test_any_response_file_has_words(text):
    assert all(isinstance(word, str) for word in response_files.words(text))
