"""Java's properties files, with the lines on which entries begin."""

from kraft.node.java_properties import Property, parse_entries


def test_entries_have_the_line_on_which_they_begin():
    text = "# one\n\na=1\\\n  2\r\nb : \\u0041\rc\\\n=\n! eight\nd=\\t"

    assert list(parse_entries(text)) == [
        Property("a", "12", 3),
        Property("b", "A", 5),
        Property("c", "", 6),
        Property("d", "\t", 9),
    ]
