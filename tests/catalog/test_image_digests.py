"""Images are named by their digest, as far as one is known."""

import re
from pathlib import Path

from trainyard.components.catalog.image_digests import DIGESTS, by_content
from trainyard.components.eks import addons


def test_every_known_digest_is_of_an_image_that_an_add_on_uses() -> None:
    """A digest of an old tag would say that the new one is pinned."""
    used = "\n".join(
        path.read_text(encoding="utf-8") for path in Path(addons.__file__).parent.glob("*.py")
    )
    assert all(f'"{image}"' in used for image in DIGESTS)


def test_digests_are_whole() -> None:
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", each) for each in DIGESTS.values())


def test_a_new_tag_of_an_image_has_no_digest_of_the_old_one() -> None:
    image = next(iter(DIGESTS))
    assert by_content(image) == f"{image}@{DIGESTS[image]}"
    assert by_content(f"{image}-next") == f"{image}-next"
