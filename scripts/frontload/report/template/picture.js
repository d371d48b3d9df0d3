// The fault pictures: one panel for each variant, all with the same scales, drawn with d3.
//
// An event is a major fault (M), a minor fault (m) or a read stretch (F). Files lie side
// by side on the axis x; each is a piece of it, from 0 to 1 in all. A small file among large ones
// gets more room than it has bytes, or it could not be seen. Time runs downwards.
//
// All events of a kind and color are one SVG path, whose dots are strokes of no length with round
// ends: ten thousand elements would be slow, and ten are not.
"use strict";

const MIN_PIECE = 0.012; // of the axis, for a file among others
const ROOM = { top: 8, right: 10, bottom: 40, left: 58 };
const KIND_NAMES = { M: "major faults", m: "minor faults", F: "reads", jump: "backwards" };

class FaultPicture {
  constructor(data, panels, tip) {
    this.data = data;
    this.pointing = new Pointing(this, tip);
    this.panels = panels;
    this.hidden = new Set(); // kinds and causes that the legend has switched off
    for (const variant of data.variants) variant.previous = this.previousReads(variant);
    this.buildPanels();
    this.choose(-1);
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

  // Where an event begins on the axis x (end 0), or ends (end 1).
  position(variant, at, end) {
    const piece = this.pieces.get(variant.file[at]);
    const offset = variant.offset[at] + (variant.kind[at] === "F" ? end * variant.bytes[at] : 0);
    return piece.start + piece.width * offset / piece.size;
  }

  buildPanels() {
    this.views = this.data.variants.map((variant, number) => {
      const panel = d3.select(this.panels).append("article").attr("class", "panel");
      const title = panel.append("h3");
      title.append("bdi").attr("class", "name").attr("title", variant.name).text(variant.name);
      const note = title.append("small");
      const svg = panel.append("svg").attr("role", "img");
      const clip = `clip${number}`;
      svg.append("clipPath").attr("id", clip).append("rect");
      const frame = svg.append("g").attr("transform", `translate(${ROOM.left},${ROOM.top})`);
      const layer = (name) => frame.append("g").attr("class", name);
      const view = { variant, number, svg, note, xAxis: layer("x"), yAxis: layer("y"),
        sections: layer("sections"), marks: layer("marks").attr("clip-path", `url(#${clip})`),
        top: layer("top"), brush: layer("brush") };
      this.pointing.listen(view);
      return view;
    });
  }

  draw() {
    this.pointing.unpoint();
    this.width = this.views[0].svg.node().clientWidth || 600;
    this.height = Math.round(Math.min(520, Math.max(340, this.width * 0.72)));
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
    view.brush.call(view.zooming.extent([[0, 0], [width, height]]));
    this.drawTime(view.yAxis, width);
    this.drawFiles(view, width, height);
    this.drawSections(view, width, height);

    const paths = { jump: "", arrow: "" };
    view.points = [];
    for (let at = 0; at < variant.kind.length; at++) {
      const kind = variant.kind[at], cause = variant.cause[at];
      if (!this.pieces.has(variant.file[at]) || this.hidden.has(kind) || this.hidden.has(cause))
        continue;
      const from = this.position(variant, at, 0), to = this.position(variant, at, 1);
      const time = variant.time[at];
      if (to < this.x[0] || from > this.x[1] || time < this.y[0] || time > this.y[1]) continue;
      const x = this.xScale(from), y = this.yScale(time);
      const end = kind === "F" ? Math.max(this.xScale(to), x + 1.5) : x;
      if (variant.block && kind !== "m") { // the blocks of the image that this read or waited for
        const { start, width, size } = this.pieces.get(variant.file[at]);
        const edge = (offset) => this.xScale(start + width * Math.min(offset / size, 1));
        const first = variant.offset[at], block = variant.block;
        const last = first + Math.max(kind === "F" ? variant.bytes[at] : 1, 1);
        const [left, right] = [edge(Math.floor(first / block) * block),
          edge(Math.ceil(last / block) * block)];
        paths.block = `${paths.block || ""}M${left.toFixed(1)},${y.toFixed(1)}H${right.toFixed(1)}`;
      }
      const name = `${kind} k${cause}`;
      paths[name] = `${paths[name] || ""}M${x.toFixed(1)},${y.toFixed(1)}h${(end - x).toFixed(1)}`;
      view.points.push({ at, y, left: x, right: end });
      const previous = variant.previous[at];
      if (previous < 0 || this.hidden.has("jump")) continue;
      const start = this.xScale(this.position(variant, previous, 1));
      if (start - x <= 3) continue;
      const above = this.yScale(variant.time[previous]);
      paths.jump += `M${start.toFixed(1)},${above.toFixed(1)}L${x.toFixed(1)},${y.toFixed(1)}`;
      paths.arrow += `M${(x - 1).toFixed(1)},${y.toFixed(1)}l6,-3.2v6.4z`;
    }
    // Blocks lie under reads, these under minor faults, minor ones under major ones; arrows on top.
    view.marks.selectAll("*").remove();
    for (const name of d3.keys(paths).sort((a, b) => "bjFmMa".indexOf(a[0]) - "bjFmMa".indexOf(b[0])))
      view.marks.append("path").attr("class", name).attr("d", paths[name]);
    view.marks.append("line").attr("class", "end").attr("x2", width)
      .attr("y1", this.yScale(variant.end)).attr("y2", this.yScale(variant.end));
    const left = variant.leftOut
      ? `, without ${variant.leftOut.toLocaleString("en")} minor faults` : "";
    const seen = view.points.length;
    view.note.text(`${seen.toLocaleString("en")} event${seen === 1 ? "" : "s"}${left}`);
    svg.attr("aria-label", `Faults and reads of ${variant.name}: ${seen} events`);
  }

  drawTime(group, width) {
    const axis = d3.scaleLinear().domain(this.y.map((time) => time / 1e3))
      .range(this.yScale.range());
    group.call(d3.axisLeft(axis).ticks(7).tickSize(-width).tickPadding(7));
    group.select(".domain").remove();
    group.selectAll(".unit").remove();
    group.append("text").attr("class", "unit").attr("text-anchor", "middle")
      .attr("transform", `translate(${-ROOM.left + 11},${this.yScale.range()[1] / 2}) rotate(-90)`)
      .text("time, ms");
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
      const axis = d3.scaleLinear().domain(this.x.map(offset)).range([0, width]);
      group.call(d3.axisBottom(axis).ticks(Math.max(3, width / 90), "~s").tickSize(4));
      group.select(".domain").remove();
      group.append("text").attr("x", width).attr("y", 27).attr("text-anchor", "end")
        .text(`offset in ${short(number, 40)}, bytes`);
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

  // How many events of each kind and of each cause every variant has.
  counts() {
    return this.data.variants.map((variant) => {
      const found = new Map(), count = (what) => found.set(what, (found.get(what) || 0) + 1);
      for (let at = 0; at < variant.kind.length; at++) {
        if (!this.pieces.has(variant.file[at])) continue;
        count(variant.kind[at]);
        count(variant.cause[at]);
        if (variant.previous[at] >= 0) count("jump");
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
