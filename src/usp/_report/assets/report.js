"use strict";
// What a report does: tables that sort, search and page; folders that can be entered; buttons that
// copy. Everything is in the page without it. Texts of a site are only ever set as text.

document.documentElement.classList.add("js");

const NUMBER = new Intl.NumberFormat("en");
const SVG = "http://www.w3.org/2000/svg";

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}

function drawn(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Tables

class Table {
  constructor(box) {
    this.table = box.querySelector("table");
    this.body = this.table.tBodies[0];
    this.rows = [...this.body.rows];
    this.found = this.rows;
    this.page = 0;
    this.size = Number(box.dataset.table);
    this.texts = null;
    this.addControls(box);
    [...this.table.tHead.rows[0].cells].forEach((cell, number) => this.addSorting(cell, number));
    this.show();
  }

  addControls(box) {
    const name = this.table.caption.textContent;
    this.search = element("input", { type: "search", placeholder: "Search" });
    this.search.setAttribute("aria-label", `Search: ${name}`);
    this.search.addEventListener("input", () => this.filter());
    this.status = element("span", { className: "muted" });
    this.status.setAttribute("role", "status");
    this.before = element("button", { type: "button", textContent: "Previous" });
    this.after = element("button", { type: "button", textContent: "Next" });
    this.before.setAttribute("aria-label", `Previous page: ${name}`);
    this.after.setAttribute("aria-label", `Next page: ${name}`);
    this.before.addEventListener("click", () => this.turn(-1));
    this.after.addEventListener("click", () => this.turn(1));
    const space = element("span", { className: "space" });
    const controls = element("div", { className: "controls" });
    controls.append(this.search, space, this.status, this.before, this.after);
    box.before(controls);
  }

  addSorting(cell, number) {
    if (!cell.textContent) return;
    const button = element("button", { type: "button" }, ...cell.childNodes);
    button.addEventListener("click", () => this.sort(cell, number));
    cell.append(button);
  }

  sort(cell, number) {
    const isNumber = cell.classList.contains("num");
    const was = cell.getAttribute("aria-sort");
    const descends = was ? was === "ascending" : isNumber;
    const sign = descends ? -1 : 1;
    const value = isNumber
      ? (row) => Number(row.cells[number].dataset.v ?? NaN)
      : (row) => row.cells[number].textContent;
    const compare = isNumber
      ? (a, b) => (Number.isNaN(a) - Number.isNaN(b)) || sign * (a - b)
      : (a, b) => sign * (a < b ? -1 : a > b ? 1 : 0);
    const keyed = this.rows.map((row) => [value(row), row]);
    keyed.sort((a, b) => compare(a[0], b[0]));
    this.rows = keyed.map((pair) => pair[1]);
    this.body.append(...this.rows);
    for (const other of cell.parentNode.cells) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", descends ? "descending" : "ascending");
    this.filter();
  }

  filter() {
    this.texts ??= new Map(this.rows.map((row) => [row, row.textContent.toLowerCase()]));
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.found = this.rows.filter((row) => words.every((word) => this.texts.get(row).includes(word)));
    this.page = 0;
    this.show();
  }

  turn(pages) {
    this.page += pages;
    this.show();
  }

  show() {
    const first = this.page * this.size;
    const shown = this.found.slice(first, first + this.size);
    for (const row of this.body.querySelectorAll(".shown")) row.classList.remove("shown");
    for (const row of shown) row.classList.add("shown");
    const range = shown.length ? `${NUMBER.format(first + 1)}–${NUMBER.format(first + shown.length)} of ` : "";
    this.status.textContent = `${range}${NUMBER.format(this.found.length)}`;
    this.before.disabled = this.page === 0;
    this.after.disabled = first + this.size >= this.found.length;
  }
}

// Folders: an icicle, in which a click, Enter or a name of the trail enters a folder

const ROW = 34;
const LEVELS = 5;
const LETTER = 7;

class Icicle {
  constructor(box, data) {
    this.box = box;
    this.command = document.getElementById("folder-command");
    this.trail = element("ol", { className: "trail" });
    this.trail.setAttribute("aria-label", "The folder that is shown");
    this.svg = drawn("svg", { role: "group", "aria-label": "Folders by number of pages. Arrow keys move, Enter opens, Escape goes up." });
    this.status = element("p", { className: "hidden-text" });
    this.status.setAttribute("role", "status");
    box.append(this.trail, this.svg, this.status);
    this.root = this.linked(data, null);
    this.enter(this.root, false);
    this.svg.addEventListener("keydown", (event) => this.move(event));
    let width = 0;
    new ResizeObserver(() => {
      if (this.box.clientWidth !== width) this.draw();
      width = this.box.clientWidth;
    }).observe(box);
  }

  linked([name, pages, own, folders, command, children], parent) {
    const folder = { name, pages, own, folders, command, parent };
    folder.children = children.map((child) => this.linked(child, folder));
    return folder;
  }

  enter(folder, focus = true) {
    this.folder = folder;
    const path = [];
    for (let one = folder; one; one = one.parent) path.unshift(one);
    this.trail.replaceChildren(...path.map((one) => this.step(one)));
    this.status.textContent = `${describe(folder)}`;
    if (this.command) this.command.textContent = folder.command;
    this.draw();
    if (focus) this.svg.querySelector("g[tabindex]")?.focus();
  }

  step(folder) {
    const text = folder === this.root ? folder.name : `${folder.name}/`;
    if (folder === this.folder) {
      const here = element("li", { textContent: `${text} ${NUMBER.format(folder.pages)} pages` });
      here.setAttribute("aria-current", "true");
      return here;
    }
    const button = element("button", { type: "button", textContent: text });
    button.addEventListener("click", () => this.enter(folder));
    return element("li", {}, button);
  }

  draw() {
    const width = this.box.clientWidth;
    this.svg.replaceChildren();
    this.depth = 0;
    if (width) this.add(this.folder, 0, 0, width);
    const height = (this.depth + 1) * ROW;
    this.svg.setAttribute("height", height);
    this.svg.setAttribute("viewBox", `0 0 ${width || 1} ${height}`);
    this.svg.querySelector("g[data-folder]")?.setAttribute("tabindex", "0");
  }

  add(folder, level, x, width) {
    this.depth = Math.max(this.depth, level);
    const group = this.block(folder.name || "/", describe(folder), level, x, width, level % 2 ? "odd" : "even");
    group.folder = folder;
    group.dataset.folder = "";
    group.setAttribute("tabindex", "-1");
    group.addEventListener("click", () => this.enter(folder === this.folder ? folder.parent ?? folder : folder));
    if (level + 1 >= LEVELS || !folder.folders) return;
    let at = x;
    const scale = width / folder.pages;
    for (const child of folder.children) {
      const part = child.pages * scale;
      if (part >= 2) this.add(child, level + 1, at, part);
      at += part;
    }
    const shown = folder.children.reduce((sum, child) => sum + child.pages, 0);
    const rest = folder.pages - folder.own - shown;
    const others = folder.folders - folder.children.length;
    at = this.note(`${NUMBER.format(others)} more folders`, "rest", rest, level, at, scale);
    this.note("pages here", "own", folder.own, level, at, scale);
  }

  note(name, kind, pages, level, x, scale) {
    const width = pages * scale;
    if (width >= 2) {
      this.depth = Math.max(this.depth, level + 1);
      this.block(name, `${name}: ${NUMBER.format(pages)} pages`, level + 1, x, width, kind);
    }
    return x + width;
  }

  block(name, description, level, x, width, kind) {
    const rect = drawn("rect", { x, y: level * ROW, width, height: ROW, rx: 2 });
    const title = drawn("title", {}, description);
    const isNote = kind === "rest" || kind === "own";
    const group = drawn("g", { class: kind, role: isNote ? "img" : "button" }, title, rect);
    const room = Math.floor((width - 14) / LETTER);
    const label = name.length > room ? `${name.slice(0, Math.max(room - 1, 0))}…` : name;
    if (room >= 3) group.append(drawn("text", { x: x + 7, y: level * ROW + ROW / 2, dy: "0.34em", "aria-hidden": "true" }, label));
    this.svg.append(group);
    return group;
  }

  move(event) {
    const group = document.activeElement;
    const folder = group?.folder;
    if (!folder) return;
    const inside = folder !== this.folder;
    const among = inside ? folder.parent.children : [folder];
    const at = among.indexOf(folder);
    const targets = { ArrowRight: among[at + 1], ArrowLeft: among[at - 1], ArrowDown: folder.children[0], ArrowUp: inside ? folder.parent : null };
    if (event.key in targets) {
      this.focus(group, targets[event.key]);
    } else if (event.key === "Enter" || event.key === " ") {
      this.enter(inside ? folder : folder.parent ?? folder);
    } else if (event.key === "Escape" && this.folder.parent) {
      this.enter(this.folder.parent);
    } else {
      return;
    }
    event.preventDefault();
  }

  focus(group, folder) {
    const target = [...this.svg.children].find((one) => folder && one.folder === folder);
    if (!target) return;
    group.setAttribute("tabindex", "-1");
    target.setAttribute("tabindex", "0");
    target.focus();
  }
}

function describe(folder) {
  const folders = folder.folders ? `, ${NUMBER.format(folder.folders)} folders` : "";
  return `${folder.name || "/"}: ${NUMBER.format(folder.pages)} pages${folders}`;
}

// Copying

async function copy(button) {
  const code = button.parentNode.querySelector("code");
  const text = button.dataset.copy ?? code.textContent;
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    done = code !== null && select(code);
  }
  const label = button.textContent;
  button.textContent = done ? "Copied" : "Not copied";
  setTimeout(() => { button.textContent = label; }, 3000);
}

function select(node) {
  getSelection().selectAllChildren(node);
  return document.execCommand("copy");
}

// Everything is there now

document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll("[data-table]")) new Table(box);
  const data = document.getElementById("folders-data");
  if (data) new Icicle(document.getElementById("icicle"), JSON.parse(data.textContent));
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".copy");
    if (button) copy(button);
  });
});

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll(".findings details:not([open])")];
  for (const one of opened) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of opened) one.open = false;
});
