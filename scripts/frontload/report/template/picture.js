// The fault pictures: one panel for each variant, all with the same scales, drawn with d3.
//
// An event is a major fault (M), a minor fault (m) or a read stretch (F). Files lie side
// by side on the axis x; each is a piece of it, from 0 to 1 in all. A small file among large ones
// gets more room than it has bytes, or it could not be seen. Time runs downwards.
//
// All events of a kind and colour are one SVG path, whose dots are strokes of no length with round
// ends: ten thousand elements would be slow, and ten are not.
"use strict";

const MIN_PIECE = 0.012; // of the axis, for a file among others
const ROOM = { top: 8, right: 10, bottom: 40, left: 58 };
const KIND_NAMES = { M: "major faults", m: "minor faults", F: "reads" };

class FaultPicture {
  constructor(data, panels, tip) {
    this.data = data;
    this.pointing = new Pointing(this, tip);
    this.panels = panels;
    this.shown = { M: true, m: true, F: true, jump: true };
    this.hidden = new Set(); // classes that the legend has switched off
    this.colouring = "cause";
    for (const variant of data.variants) {
      let time = 0;
      variant.time = variant.time.map((step) => (time += step));
      variant.previous = this.previousReads(variant);
    }
    this.rankSections();
    this.buildPanels();
    this.choose(-1);
    new ResizeObserver(() => this.resized()).observe(panels);
  }

  // For each backward read, the read before it in its file.
  previousReads(variant) {
    const last = new Map();
    // If reads were not recorded, the faults that waited for them show their places.
    const wanted = variant.kind.includes("F") ? "F" : "M";
    return Array.from(variant.kind, (kind, at) => {
      if (kind !== wanted) return -1;
      const file = variant.file[at];
      const before = last.has(file) ? last.get(file) : -1;
      last.set(file, at);
      return variant.backward[at] && before >= 0 ? before : -1;
    });
  }

  // The sections with the most events get a colour each; the others share the last one.
  rankSections() {
    const counts = new Map();
    for (const variant of this.data.variants)
      for (const section of variant.section) counts.set(section, (counts.get(section) || 0) + 1);
    const ranked = [...counts.keys()].filter((section) => section >= 0)
      .sort((a, b) => counts.get(b) - counts.get(a) || a - b);
    // Colours are ordered by how easily they can be told apart.
    this.sectionClass = new Map(ranked.slice(0, 7).map((section, rank) =>
      [section, [4, 2, 6, 1, 5, 3, 0][rank]]));
  }

  classOf(variant, at) {
    if (this.colouring === "cause") return Math.min(variant.cause[at], 7);
    const section = variant.section[at];
    return this.sectionClass.has(section) ? this.sectionClass.get(section) : 7;
  }

  className(number) {
    if (this.colouring === "cause") return this.data.causes[number];
    for (const [section, own] of this.sectionClass)
      if (own === number) return this.data.sections[section];
    return "other sections";
  }

  // Shows one file, or all (-1), from the first byte and the start.
  choose(file) {
    this.file = file;
    const files = file < 0 ? this.data.files.map((_, number) => number) : [file];
    const total = d3.sum(files, (number) => this.data.files[number].size) || 1;
    const least = Math.min(MIN_PIECE, 0.3 / files.length);
    const widths = files.map((number) => Math.max(this.data.files[number].size / total, least));
    const all = d3.sum(widths);
    this.pieces = new Map();
    let start = 0;
    files.forEach((number, at) => {
      const width = widths[at] / all;
      this.pieces.set(number, { start, width, size: this.data.files[number].size || 1 });
      start += width;
    });
    this.whole = { x: [0, 1], y: [0, d3.max(this.data.variants, (variant) => variant.end)] };
    this.reset();
  }

  reset() {
    this.zoomTo(this.whole.x, this.whole.y);
  }

  zoomTo(x, y) {
    const within = ([from, to], [first, last], least) => {
      const width = Math.min(Math.max(to - from, least), last - first);
      const start = Math.min(Math.max(from, first), last - width);
      return [start, start + width];
    };
    this.x = within(x, this.whole.x, 1e-7);
    this.y = within(y, this.whole.y, 1);
    this.draw();
  }

  // Zooms by a factor around the middle, or pans by shares of the visible part.
  move(factor, right, down) {
    const moved = ([from, to], share) => {
      const middle = (from + to) / 2 + share * (to - from);
      const half = (to - from) / 2 * factor;
      return [middle - half, middle + half];
    };
    this.zoomTo(moved(this.x, right), moved(this.y, down));
  }

  position(file, offset) {
    const piece = this.pieces.get(file);
    return piece.start + piece.width * offset / piece.size;
  }

  buildPanels() {
    this.panels.classList.toggle("one", this.data.variants.length === 1);
    this.views = this.data.variants.map((variant, number) => {
      const panel = d3.select(this.panels).append("article").attr("class", "panel");
      const title = panel.append("h3");
      title.append("span").attr("class", "name").attr("title", variant.name).append("bdi")
        .append("span").text(variant.name);
      const note = title.append("small");
      const svg = panel.append("svg").attr("tabindex", 0).attr("role", "img");
      const clip = `clip${number}`;
      svg.append("clipPath").attr("id", clip).append("rect");
      const frame = svg.append("g").attr("transform", `translate(${ROOM.left},${ROOM.top})`);
      const layer = (name) => frame.append("g").attr("class", name);
      const view = { variant, number, svg, note, xAxis: layer("x"), yAxis: layer("y"),
        sections: layer("sections"), marks: layer("marks").attr("clip-path", `url(#${clip})`),
        top: layer("top"), overlay: frame.append("rect").attr("class", "overlay"), at: -1 };
      this.pointing.listen(view);
      return view;
    });
  }

  resized() {
    const width = this.views[0].svg.node().clientWidth;
    if (width && width !== this.width && !this.onPaper) this.draw();
  }

  // On paper the panels lie below each other, and none is as high as wide.
  print(now) {
    this.onPaper = now;
    this.draw();
  }

  draw() {
    this.pointing.unpoint();
    this.width = this.onPaper ? 700 : this.views[0].svg.node().clientWidth || 600;
    this.height = this.onPaper ? 252 : Math.round(Math.min(520, Math.max(340, this.width * 0.72)));
    const inner = { width: this.width - ROOM.left - ROOM.right,
      height: this.height - ROOM.top - ROOM.bottom };
    this.xScale = d3.scaleLinear().domain(this.x).range([0, inner.width]);
    this.yScale = d3.scaleLinear().domain(this.y).range([0, inner.height]);
    for (const view of this.views) this.drawPanel(view, inner);
    this.panels.dataset.x = this.x.join(" ");
    this.panels.dataset.y = this.y.join(" ");
  }

  drawPanel(view, { width, height }) {
    const { variant, svg } = view;
    svg.attr("viewBox", `0 0 ${this.width} ${this.height}`);
    svg.select("clipPath rect").attr("x", -4).attr("y", -4).attr("width", width + 8)
      .attr("height", height + 4);
    view.overlay.attr("width", width).attr("height", height);
    this.drawTime(view.yAxis, width);
    this.drawFiles(view, width, height);
    this.drawSections(view, width, height);

    const paths = new Map();
    const add = (name, text) => paths.set(name, (paths.get(name) || "") + text);
    let jumps = "", arrows = "", seen = 0;
    view.points = [];
    for (let at = 0; at < variant.kind.length; at++) {
      const kind = variant.kind[at], colour = this.classOf(variant, at);
      const piece = this.pieces.get(variant.file[at]);
      if (!piece || !this.shown[kind] || this.hidden.has(colour)) continue;
      const from = this.position(variant.file[at], variant.offset[at]);
      const to = kind === "F" ? this.position(variant.file[at], variant.offset[at]
        + variant.bytes[at]) : from;
      if (to < this.x[0] || from > this.x[1] || variant.time[at] < this.y[0]
          || variant.time[at] > this.y[1]) continue;
      seen++;
      const x = this.xScale(from), y = this.yScale(variant.time[at]);
      const end = kind === "F" ? Math.max(this.xScale(to), x + 1.5) : x;
      add(`${kind} k${colour}`, `M${x.toFixed(1)},${y.toFixed(1)}h${(end - x).toFixed(1)}`);
      view.points.push([Math.max(0, Math.min((x + end) / 2, width)), y, at, x, end]);
      const previous = variant.previous[at];
      if (this.shown.jump && previous >= 0) {
        const start = this.xScale(this.position(variant.file[previous], variant.offset[previous]
          + (variant.kind[previous] === "F" ? variant.bytes[previous] : 0)));
        const above = this.yScale(variant.time[previous]);
        if (start - x > 3) {
          jumps += `M${start.toFixed(1)},${above.toFixed(1)}L${x.toFixed(1)},${y.toFixed(1)}`;
          arrows += `M${(x - 1).toFixed(1)},${y.toFixed(1)}l6,-3.2v6.4z`;
        }
      }
    }
    // Reads lie under minor faults, minor ones under major ones; arrows are on top.
    const order = [...paths.keys()].sort((a, b) =>
      "FmM".indexOf(a[0]) - "FmM".indexOf(b[0]) || (a < b ? -1 : 1));
    view.marks.selectAll("*").remove();
    view.marks.append("path").attr("class", "jump").attr("d", jumps);
    for (const name of order)
      view.marks.append("path").attr("class", name).attr("d", paths.get(name));
    view.marks.append("path").attr("class", "arrow").attr("d", arrows);
    view.marks.append("line").attr("class", "end").attr("x2", width)
      .attr("y1", this.yScale(variant.end)).attr("y2", this.yScale(variant.end));
    view.tree = d3.quadtree(view.points, (point) => point[0], (point) => point[1]);
    const left = variant.leftOut
      ? `, without ${variant.leftOut.toLocaleString("en")} minor faults` : "";
    view.note.text(`${seen.toLocaleString("en")} event${seen === 1 ? "" : "s"}${left}`);
    svg.attr("aria-label", `Faults and reads of ${variant.name}: ${seen} events. Arrow keys pan, `
      + "plus and minus zoom, 0 shows all, n and p go to the next and previous event.");
  }

  drawTime(group, width) {
    const [from, to] = this.y;
    const [scale, unit] = to >= 2e6 ? [1e6, "s"] : to >= 2e3 ? [1e3, "ms"] : [1, "µs"];
    const axis = d3.scaleLinear().domain([from / scale, to / scale]).range(this.yScale.range());
    group.call(d3.axisLeft(axis).ticks(7).tickSize(-width).tickPadding(7));
    group.select(".domain").remove();
    group.selectAll(".unit").remove();
    group.append("text").attr("class", "unit").attr("text-anchor", "middle")
      .attr("transform", `translate(${-ROOM.left + 11},${this.yScale.range()[1] / 2}) rotate(-90)`)
      .text(`time, ${unit}`);
  }

  // The axis of offsets while one file fills the picture, else the names of the files.
  drawFiles({ xAxis: group, variant }, width, height) {
    const short = (number, most) => middle(baseName(
      variant.files[number] || this.data.files[number].label), most);
    group.attr("transform", `translate(0,${height + 12})`).selectAll("*").remove();
    const pieces = [...this.pieces].filter(([, piece]) =>
      piece.start < this.x[1] && piece.start + piece.width > this.x[0]);
    const only = pieces.length === 1 ? pieces[0] : null;
    if (only) {
      const [number, piece] = only;
      const offset = (x) => (x - piece.start) / piece.width * piece.size;
      const range = this.x.map(offset);
      const [scale, unit] = range[1] >= 2e6 ? [1e6, "MB"] : range[1] >= 2e3 ? [1e3, "kB"]
        : [1, "B"];
      const axis = d3.scaleLinear().domain(range.map((at) => at / scale)).range([0, width]);
      group.call(d3.axisBottom(axis).ticks(Math.max(3, width / 90)).tickSize(4));
      group.select(".domain").remove();
      group.append("text").attr("x", width).attr("y", 27).attr("text-anchor", "end")
        .text(`offset in ${short(number, 40)}, ${unit}`);
      return;
    }
    let free = -Infinity;
    for (const [number, piece] of pieces) {
      const x = Math.max(0, this.xScale(piece.start));
      const end = Math.min(width, this.xScale(piece.start + piece.width));
      group.append("line").attr("class", "edge").attr("x1", x).attr("x2", x)
        .attr("y1", -height - 12).attr("y2", 4);
      const most = Math.floor((end - x) / 6.2);
      const name = short(number, Math.max(most, 9));
      if (x < free || x + name.length * 6.2 > width + 8) continue;
      group.append("text").attr("x", x + 2).attr("y", 14).text(name)
        .append("title").text(variant.files[number] || this.data.files[number].name);
      free = x + name.length * 6.2 + 6;
    }
    group.append("text").attr("x", width).attr("y", 27).attr("text-anchor", "end")
      .text("offset in each file");
  }

  // A band below the picture with the sections of the files.
  drawSections(view, width, height) {
    const group = view.sections.attr("transform", `translate(0,${height + 2})`);
    group.selectAll("*").remove();
    for (const [file, piece] of this.pieces)
      (view.variant.sections[file] || []).forEach(([name, offset, size], rank) => {
        const from = Math.max(0, this.xScale(piece.start + piece.width * offset / piece.size));
        const to = Math.min(width, this.xScale(
          piece.start + piece.width * (offset + size) / piece.size));
        if (to - from < 0.4) return;
        group.append("rect").attr("class", `strip${rank % 2}`).attr("x", from)
          .attr("width", to - from).attr("height", 10)
          .append("title").text(this.data.sections[name]);
        const label = this.data.sections[name];
        if (to - from > label.length * 6 + 6)
          group.append("text").attr("x", from + 3).attr("y", 8.5).style("font-size", "9.5px")
            .attr("pointer-events", "none").text(label);
      });
  }

  // How many events of each class every variant has, and of each kind.
  counts() {
    return this.data.variants.map((variant) => {
      const found = { kinds: { M: 0, m: 0, F: 0, jump: 0 }, classes: new Map() };
      for (let at = 0; at < variant.kind.length; at++) {
        if (!this.pieces.has(variant.file[at])) continue;
        const own = this.classOf(variant, at);
        found.kinds[variant.kind[at]]++;
        if (variant.previous[at] >= 0) found.kinds.jump++;
        found.classes.set(own, (found.classes.get(own) || 0) + 1);
      }
      return found;
    });
  }
}

function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

function middle(text, most) {
  if (text.length <= most) return text;
  const half = Math.max(2, Math.floor((most - 1) / 2));
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}
