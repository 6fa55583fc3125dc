"""Rules about news, images, videos and alternates: SM5."""

from typing import Final

from usp._check.rules import D, E, I, Rule, S, W

_G, _OURS = "Google", "usp"
_NEWS_XSD, _VIDEO_XSD, _TAGS = "Google, news XSD", "Google, video XSD", "RFC 5646"

EXTENSION_ROWS: Final = (
    Rule("SM550", "news-too-many", E, "A news sitemap has more than 1,000 <news:news>.", _G,
         ("Too many URLs in News sitemap",), D, "Split it, or drop the stories of last week.",
         "a file with 1,001 stories"),
    Rule("SM551", "news-too-old", W,
         "The publication date of a story is more than 48 hours (and one of grace) before the "
         "fetch.", _G, (), D, "Remove the story from the news sitemap.",
         "a story of last week"),
    Rule("SM552", "news-field-missing", E,
         "A story has no publication name, no language or no publication date.", _NEWS_XSD,
         ("Missing XML tag",), D, "Give every story a name, a language and a date.",
         "<news:news><news:title>A</news:title></news:news>"),
    Rule("SM553", "news-language", E,
         "The language of a story is neither an ISO 639 code of two or three letters, nor zh-cn or "
         "zh-tw.", _NEWS_XSD, (), D, "Write the code, such as en.",
         "<news:language>English</news:language>"),
    Rule("SM554", "news-twice", E, "A <url> has more than one <news:news>.", _G, (), D,
         "Give every story its own page and entry.", "two <news:news> in a <url>"),
    Rule("SM555", "news-dropped-tag", I,
         "A story has access, genres, keywords, stock_tickers or geo_locations, which Google no "
         "longer reads.", _G, (), D, "Leave them out.", "<news:keywords>a, b</news:keywords>"),
    Rule("SM560", "images-too-many", E, "A <url> has more than 1,000 images.", _G, (), D,
         "List the images that matter.", "a <url> with 1,001 <image:image>"),
    Rule("SM561", "image-dropped-tag", I,
         "An image has caption, geo_location, title or license, which Google no longer reads.", _G,
         (), D, "Leave them out.", "<image:caption>A</image:caption>"),
    Rule("SM562", "image-other-host", I,
         "An image is on another host than its page. That is allowed; verify that host, too, to "
         "see its errors in Search Console.", _G, (), D, "Verify the host of the images.",
         "https://cdn.example.net/a.jpg for a page of example.org"),
    Rule("SM570", "video-duration", E, "A duration is not a whole number from 1 to 28,800.", _G,
         ("Invalid XML: invalid tag value",), D, "Write seconds.",
         "<video:duration>1:30</video:duration>"),
    Rule("SM571", "video-text-too-long", E,
         "A text of a video is too long: a description over 2,048 characters, a title over 100, an "
         "uploader over 255, a category over 256.", _VIDEO_XSD, (), D, "Shorten it.",
         "a <video:title> of 120 characters"),
    Rule("SM572", "video-is-the-page", E, "The content_loc or player_loc of a video is the <loc> of "
         "its page.", _G, ("Video location and play page location are the same",), D,
         "Give the URL of the video file or of the player.",
         "<video:player_loc> with the URL of the page"),
    Rule("SM573", "video-no-media-file", W,
         "The content_loc of a video is no media file: it ends in .html or .swf, or is an rtmp "
         "URL.", _G, ("Unsupported content type",), D, "Give the URL of the video file.",
         "<video:content_loc>https://example.org/v.html</video:content_loc>"),
    Rule("SM574", "video-too-many-tags", W, "A video has more than 32 tags.", _VIDEO_XSD, (), D,
         "Keep the tags that matter.", "33 <video:tag>"),
    Rule("SM575", "video-restriction", E,
         "A restriction or platform of a video has no relationship, a country that is not two "
         "capital letters, or a platform other than web, mobile and tv.", _VIDEO_XSD,
         ("Invalid XML: invalid attribute value",), D,
         'Write relationship="allow" or "deny", and codes such as DE.',
         "<video:restriction>Germany</video:restriction>"),
    Rule("SM576", "video-expired", W, "The expiration_date of a video is past.", _G, (), D,
         "Remove the video, or correct the date.",
         "<video:expiration_date>2020-01-01</video:expiration_date>"),
    Rule("SM577", "video-uploader-elsewhere", W,
         "The info of an uploader is on another domain than the page.", _VIDEO_XSD, (), D,
         "Link a page of the same domain.", '<video:uploader info="https://other.example/u">'),
    Rule("SM578", "video-dropped-tag", I,
         "A video has category, gallery_loc, price, tvshow, player embedding options or another "
         "tag that Google no longer reads.", _G, (), D, "Leave it out.",
         "<video:category>News</video:category>"),
    Rule("SM580", "hreflang-code", E,
         "An hreflang is neither x-default nor a language of ISO 639-1, with a script of ISO 15924 "
         "and a region of ISO 3166-1 if wanted. A region of digits is a warning.", f"{_G}, {_TAGS}",
         (), D, "Write en-GB instead of en-UK, zh-CN instead of zh_CN.", 'hreflang="en-UK"'),
    Rule("SM581", "hreflang-twice", E, "An entry gives two URLs for one hreflang.", _G, (), D,
         "Give each code one URL.", 'two links with hreflang="de"'),
    Rule("SM582", "hreflang-no-self", W,
         "The alternates of an entry do not include its own URL.", _G, (), D,
         "List the page itself among its alternates.", "/en lists /de only"),
    Rule("SM583", "hreflang-no-return", E,
         "A page lists an alternate whose own entry does not list the page. x-default is exempt.",
         _G, ("No return tags",), S, "List every alternate in every entry of the cluster.",
         "/en lists /de, /de does not list /en"),
    Rule("SM585", "hreflang-conflict", E,
         "The entries of a cluster give different URLs for one code.", _G, (), S,
         "Give each code the same URL in every entry.", "/en says de is /de, /fr says it is /de2"),
    Rule("SM586", "hreflang-target-unlisted", W,
         "No sitemap lists an alternate. On another host it is info.", _OURS, (), S,
         "List the alternate with its own alternates.", "/en lists /de, which is in no sitemap"),
    Rule("SM587", "hreflang-other-name", E,
         "A page calls itself by another code than the pages that list it.", _OURS, (), S,
         "Use one code for each page.", "/en calls /pt pt-BR, /pt calls itself pt"),
    Rule("SM589", "hreflang-regions-only", I,
         "An entry has two or more regions of one language, but neither the language alone nor "
         "x-default.", _G, (), D, "Add the language alone, or x-default, for everybody else.",
         "en-GB and en-US without en"),
)  # fmt: skip
"""The rows, by code."""
