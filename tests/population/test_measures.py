"""Code measures on small trees whose right numbers are known by hand."""

from __future__ import annotations

from pathlib import Path

from triathlon import content
from triathlon.population.measures import measure

SOURCE = '''"""Doc."""
# a comment

def f(mode):
    if mode == "bypass":
        return 1
    return 2
'''


def write(tree: Path, **files: str) -> Path:
    for name, text in files.items():
        path = tree / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tree


def test_lines_are_code_blank_and_comment(tmp_path: Path) -> None:
    found = measure(write(tmp_path, a__py=SOURCE, b__py="", install__sh="#!/bin/sh\necho x\n", notes__md="x\n"))
    assert (found.files, found.modules) == (4, 1)
    assert (found.lines, found.blank, found.comment) == (6, 1, 2)


def test_only_lines_that_do_not_stand_in_the_skeleton_are_new(tmp_path: Path) -> None:
    skeleton = write(tmp_path / "s", a__py="x = 1\ny = 2\n")
    tree = write(tmp_path / "t", a__py="x = 1\nx = 1\nz = 3\ny = 2\n")
    assert measure(tree, skeleton).new_share == 0.5
    assert measure(skeleton, skeleton).new_share == 0.0
    assert measure(write(tmp_path / "none", notes__md="")).new_share is None


def test_copies_by_text_and_by_shape(tmp_path: Path) -> None:
    block = "".join(f"a{i} = f(x, {i})\n" for i in range(6))
    other = "".join(f"b{i} = g(y, {i + 9})\n" for i in range(6))
    tail = "for i in range(3):\n    print(i)\n"
    found = measure(write(tmp_path, a__py=block + tail, b__py=block, c__py=other))
    assert found.copied_text == 6
    assert found.copied_shape == 12


def test_a_permission_is_decided_in_functions_that_branch_on_it(tmp_path: Path) -> None:
    two = SOURCE + "\ndef g(rules):\n    return [r for r in rules if r.allowed]\n\ndef h(x):\n    return x\n"
    found = measure(write(tmp_path, a__py=two, b__py=SOURCE, c__py="def k(x):\n    return x > 1\n"))
    assert (found.permission_places, found.permission_modules) == (3, 2)


def test_sources_that_cannot_be_parsed_are_still_counted(tmp_path: Path) -> None:
    found = measure(write(tmp_path, a__py="def (:\n  'x\n"))
    assert (found.lines, found.permission_places, found.copied_shape) == (2, None, 0)


def test_links_are_not_followed(tmp_path: Path) -> None:
    tree = write(tmp_path / "t", a__py="x = 1\n")
    write(tmp_path / "outside", big__py="y = 2\n" * 50)
    (tree / "link").symlink_to(tmp_path / "outside")
    (tree / "link.py").symlink_to(tmp_path / "outside" / "big.py")
    assert measure(tree).lines == 1


def test_the_skeleton_is_not_new_and_the_reference_is() -> None:
    skeleton = content.root() / "skeleton"
    assert measure(skeleton, skeleton).new_share == 0.0
    found = measure(content.root() / "reference", skeleton)
    assert found.new_share is not None and found.new_share > 0.9
    assert found.permission_places is not None and found.permission_places > 3
