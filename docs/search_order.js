// How the search orders what it finds: pages that a reader looks for come before fields that happen to
// have the word in their name. Sphinx copies this file into its own searchtools.js (html_search_scorer).

// Not about the order, but this is the one script that runs after the options of Sphinx and before its search:
// a browser lets no page read its neighbours on a disk, so a site that is opened as a file has no excerpts.
if (window.location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

const ADDED_BY_PLACE = [
  ["project/", -8], // the changelog has every word
  ["explanation/architecture", -8],
  ["reference/rules", -8], // each code has a page of its own
  ["reference/benchmarks", -8],
  ["reference/codes/", -4],
  ["topics", 4], // made for finding
  ["how-to/", 1],
];

var Scorer = {
  score: ([docname, , , description, score, , kind]) => {
    const [, byPlace] = ADDED_BY_PLACE.find(([start]) => docname.startsWith(start)) ?? ["", 0];
    const isField = kind === SearchResultKind.object && description?.startsWith("Python attribute");
    const isHeading = kind === SearchResultKind.title;
    return score + byPlace + (isHeading ? 6 : 0) - (isField ? 12 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
