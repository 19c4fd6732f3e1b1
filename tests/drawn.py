"""Pictures read again."""

from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def drawn_points(path):
    """The places of the marks of each line of an SVG that has a name, a list of (x, y) by name."""
    found = {}
    for group in ElementTree.parse(path).iter(f"{SVG}g"):
        places = [(float(mark.get("x")), float(mark.get("y"))) for mark in group.iter(f"{SVG}use")]
        if places and group.get("id"):
            found[group.get("id")] = places
    return found
