// The page around the pictures: their controls and legend, the theme, sorting of tables.

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// A button with two states, which shows its state.
function toggle(label, pressed, changed, ...inside) {
  const button = element("button", { type: "button" }, ...inside, label);
  button.setAttribute("aria-pressed", pressed);
  button.onclick = () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", now);
    changed(now);
  };
  return button;
}

async function unpack(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function addControls(picture, data) {
  const files = element("select", {}, new Option("all files", -1),
    ...data.files.map((file, number) => new Option(middle(file.label, 60), number)));
  files.id = "file";
  files.onchange = () => {
    picture.choose(Number(files.value));
    drawLegend(picture);
  };
  const colouring = element("select", { id: "colouring" }, new Option("cause", "cause"),
    new Option("section", "section"));
  colouring.onchange = () => {
    picture.colouring = colouring.value;
    picture.hidden.clear();
    picture.draw();
    drawLegend(picture);
  };
  const act = (label, title, done) => {
    const button = element("button", { type: "button", title, onclick: done }, label);
    button.setAttribute("aria-label", title);
    return button;
  };
  const controls = document.getElementById("controls");
  controls.append(
    element("label", {}, "show ", files), element("label", {}, "coloured by ", colouring),
    element("small", {}, "drag or Ctrl + wheel to zoom, double-click to see all"),
    element("span", { className: "group" },
      act("−", "zoom out", () => picture.move(1 / 0.6, 0, 0)),
      act("+", "zoom in", () => picture.move(0.6, 0, 0)),
      act("all", "show all", () => picture.reset())));
  controls.hidden = false;
  for (const button of document.querySelectorAll("button.show")) {
    button.hidden = false;
    button.onclick = () => {
      files.value = button.dataset.file;
      files.onchange();
      document.getElementById("picture").scrollIntoView({ behavior: "smooth" });
    };
  }
}

function sample(kind) {
  const svg = d3.create("svg").attr("viewBox", "0 0 22 10").attr("aria-hidden", "true");
  if (kind === "jump") {
    svg.append("path").attr("class", "jump").attr("d", "M21,2L3,7");
    svg.append("path").attr("class", "arrow").attr("d", "M1,7.5l6,-4.2l1,5.6z");
  } else svg.append("path").attr("class", kind).attr("d", kind === "F" ? "M2,5h18" : "M11,5h0");
  return svg.node();
}

function drawLegend(picture) {
  const legend = document.getElementById("legend");
  const counts = picture.counts();
  const told = (values) => element("small", {}, values.map((value) =>
    value.toLocaleString("en")).join(" → "));
  const kinds = [...Object.entries(KIND_NAMES), ["jump", "backwards"]].map(([kind, label]) => {
    const button = toggle(label, picture.shown[kind], (on) => {
      picture.shown[kind] = on;
      picture.draw();
    }, sample(kind));
    button.append(told(counts.map((count) => count.kinds[kind])));
    return button;
  });
  const used = [0, 1, 2, 3, 4, 5, 6, 7].filter((own) =>
    counts.some((count) => count.classes.has(own)));
  const classes = used.map((own) => {
    const dot = element("span", { className: `dot k${own}` });
    const button = toggle(middle(picture.className(own), 40), !picture.hidden.has(own), (on) => {
      picture.hidden[on ? "delete" : "add"](own);
      picture.draw();
    }, dot);
    button.append(told(counts.map((count) => count.classes.get(own) || 0)));
    return button;
  });
  legend.replaceChildren(...kinds, element("span", { className: "rest" }), ...classes);
}

// Columns sort on a click on their head: numbers from the largest, names from A.
function makeSortable(table) {
  const body = table.tBodies[0], limit = Number(table.dataset.limit);
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  heads.forEach((head, column) => {
    if (!head.dataset.sort) return;
    const button = element("button", { type: "button" }, head.textContent.trim());
    head.replaceChildren(button);
    button.onclick = () => {
      const numbers = head.dataset.sort === "number";
      const descending = head.hasAttribute("aria-sort")
        ? head.getAttribute("aria-sort") === "ascending" : numbers;
      const key = (row) => numbers ? Number(row.cells[column].dataset.value)
        : row.cells[column].textContent.trim();
      const rows = [...body.rows].sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        return (x < y ? -1 : x > y ? 1 : 0) * (descending ? -1 : 1);
      });
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      rows.forEach((row, rank) => row.classList.toggle("more", rank >= limit));
      body.replaceChildren(...rows);
    };
  });
  const rest = body.rows.length - limit;
  if (rest <= 0) return;
  const button = toggle(`all ${body.rows.length}`, false, (on) =>
    table.classList.toggle("all", on));
  button.classList.add("rest");
  table.after(button);
}

function addThemeSwitch() {
  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const label = () => { button.textContent = isDark() ? "light" : "dark"; };
  button.setAttribute("aria-label", "switch between light and dark");
  button.onclick = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  };
  system.addEventListener("change", label);
  label();
  button.hidden = false;
}

async function start() {
  addThemeSwitch();
  document.querySelectorAll("table.sortable").forEach(makeSortable);
  document.documentElement.dataset.drawn = await drawPictures();
}

// Resolves to "yes" when everything is drawn.
async function drawPictures() {
  const panels = document.getElementById("panels");
  if (!panels) return "yes"; // nothing was recorded
  const data = await unpack(document.getElementById("data").textContent);
  const picture = new FaultPicture(data, panels, document.getElementById("tip"));
  addControls(picture, data);
  drawLegend(picture);
  window.addEventListener("beforeprint", () => picture.print(true));
  window.addEventListener("afterprint", () => picture.print(false));
  return "yes";
}

start();
