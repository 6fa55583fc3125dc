"""The loop that users of 1.8.1 write: all pages into a DataFrame, and the DataFrame into a file.

A program of its own, for the virtualenv of 1.8.1: ``python export_with_pandas.py HOMEPAGE FILE``.
"""

import sqlite3
import sys
from pathlib import Path

import pandas as pd

from usp.tree import sitemap_tree_for_homepage


def main(homepage: str, file: Path) -> None:
    """Crawl, make the DataFrame, and write it in the format of the suffix."""
    tree = sitemap_tree_for_homepage(homepage, use_known_paths=False, normalize_homepage_url=False)
    rows = [
        {
            "url": page.url,
            "lastmod": page.last_modified,
            "changefreq": page.change_frequency.value if page.change_frequency else None,
            "priority": float(page.priority),
            "title": page.news_story.title if page.news_story else None,
            "images": len(page.images) if page.images else 0,
        }
        for page in tree.all_pages()
    ]
    frame = pd.DataFrame(rows)
    frame["lastmod"] = pd.to_datetime(frame["lastmod"], utc=True)
    if file.suffix == ".parquet":
        frame.to_parquet(file)
    elif file.suffix == ".csv":
        frame.to_csv(file, index=False)
    elif file.suffix == ".jsonl":
        frame.to_json(file, orient="records", lines=True, date_format="iso")
    else:
        with sqlite3.connect(file) as database:
            frame.to_sql("pages", database, index=False)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
