"""Every link within the book leads to a page and, if it names one, to an anchor there. `BOOK` is its folder."""

import os
import unittest
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

BOOK = Path(os.environ["BOOK"])

# A book without this many links was not read.
LINKS = 2000


class Page(HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = {""}, []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.update(attributes[key] for key in ("id", "name") if attributes.get(key))
        self.links += [attributes[key] for key in ("href", "src") if attributes.get(key)]


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        pages = {path: Page(path) for path in BOOK.rglob("*.html")}
        followed, broken = 0, []
        for path, page in pages.items():
            # It is shown at any address, with links from the root.
            if path.name == "404.html":
                continue
            for link in page.links:
                parts = urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                if target.is_dir():
                    target /= "index.html"
                followed += 1
                anchors = pages[target].anchors if target in pages else {"", unquote(parts.fragment)}
                if not target.exists() or unquote(parts.fragment) not in anchors:
                    broken.append(f"{path.relative_to(BOOK)}: {link}")
        self.assertEqual(broken, [])
        self.assertGreater(followed, LINKS)


if __name__ == "__main__":
    unittest.main()
