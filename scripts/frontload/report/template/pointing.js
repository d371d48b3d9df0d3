// Pointer and keys in the fault pictures: they zoom, pan and show what an event is.

const REACH = 9; // pixels from the pointer to the event it means
const KIND_OF = { M: "Major fault", m: "Minor fault", F: "Read" };

function bytesText(value) {
  for (const [scale, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]])
    if (value >= scale * 0.9995) {
      const scaled = value / scale;
      return `${scaled.toFixed(scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2)} ${unit}`;
    }
  return `${value} B`;
}

function timeText(microseconds) {
  if (microseconds >= 1e6) return `${(microseconds / 1e6).toFixed(3)} s`;
  if (microseconds >= 1e3) return `${(microseconds / 1e3).toFixed(2)} ms`;
  return `${microseconds} µs`;
}

class Pointing {
  constructor(picture, tip) {
    this.picture = picture;
    this.tip = tip;
  }

  // A drag selects what to zoom to; a double click shows all; keys do the rest.
  listen(view) {
    const { picture } = this, frame = view.overlay.node();
    let start = null, rectangle = null;
    const here = (event) => {
      const box = frame.getBoundingClientRect();
      const scale = box.width / picture.xScale.range()[1];
      return [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale];
    };
    view.overlay.on("pointerdown", () => {
      if (d3.event.button !== 0) return;
      start = here(d3.event);
      frame.setPointerCapture(d3.event.pointerId);
      rectangle = view.top.append("rect").attr("class", "selection");
    }).on("pointermove", () => {
      const [x, y] = here(d3.event);
      if (start) {
        rectangle.attr("x", Math.min(x, start[0])).attr("y", Math.min(y, start[1]))
          .attr("width", Math.abs(x - start[0])).attr("height", Math.abs(y - start[1]));
      } else this.point(view, this.nearest(view, x, y));
    }).on("pointerup pointercancel", () => {
      if (!start) return;
      const [x, y] = here(d3.event), [x0, y0] = start;
      const chosen = d3.event.type === "pointerup";
      rectangle.remove();
      start = rectangle = null;
      // A drag along one axis zooms along that one.
      const wide = Math.abs(x - x0) > 6, high = Math.abs(y - y0) > 6;
      if (!chosen || !(wide || high)) return;
      const between = (edges, scale) => edges.sort(d3.ascending).map(scale.invert);
      picture.zoomTo(wide ? between([x0, x], picture.xScale) : picture.x,
        high ? between([y0, y], picture.yScale) : picture.y);
    }).on("pointerleave", () => this.unpoint()).on("dblclick", () => picture.reset());
    frame.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // else the page scrolls
      event.preventDefault();
      const at = here(event), x = picture.xScale.invert(at[0]), y = picture.yScale.invert(at[1]);
      const factor = Math.exp(event.deltaY / 300);
      const around = (middle) => (edge) => middle + (edge - middle) * factor;
      picture.zoomTo(picture.x.map(around(x)), picture.y.map(around(y)));
    }, { passive: false });
    view.svg.on("keydown", () => {
      const keys = { ArrowLeft: [1, -0.2, 0], ArrowRight: [1, 0.2, 0], ArrowUp: [1, 0, -0.2],
        ArrowDown: [1, 0, 0.2], "+": [0.6, 0, 0], "=": [0.6, 0, 0], "-": [1 / 0.6, 0, 0] };
      const { key, ctrlKey, altKey, metaKey } = d3.event;
      if (ctrlKey || altKey || metaKey) return;
      if (keys[key]) picture.move(...keys[key]);
      else if (key === "0" || key === "Home") picture.reset();
      else if (key === "Escape") this.unpoint();
      else if (key === "n" || key === "p") this.step(view, key === "n" ? 1 : -1);
      else return;
      d3.event.preventDefault();
    });
  }

  // The event at a place: reads are as wide as their bytes, so their ends are also tried.
  nearest(view, x, y) {
    let best = view.tree.find(x, y, REACH), least = REACH;
    if (best) return best;
    for (const point of view.points) {
      const aside = Math.max(point[3] - x, x - point[4], 0);
      const distance = Math.hypot(aside, point[1] - y);
      if (distance < least) [best, least] = [point, distance];
    }
    return best;
  }

  step(view, direction) {
    if (!view.points.length) return;
    const place = view.points.findIndex((point) => point[2] === view.at);
    const next = place < 0 ? (direction > 0 ? 0 : view.points.length - 1)
      : (place + direction + view.points.length) % view.points.length;
    this.point(view, view.points[next]);
  }

  unpoint() {
    this.tip.hidden = true;
    for (const view of this.picture.views || []) {
      view.at = -1;
      view.top.selectAll(".chosen").remove();
    }
  }

  point(view, point) {
    if (!point) return this.unpoint();
    const [x, y, at] = point;
    if (view.at === at && !this.tip.hidden) return;
    this.unpoint();
    view.at = at;
    view.top.append("circle").attr("class", "chosen").attr("cx", x).attr("cy", y).attr("r", 7)
      .attr("pointer-events", "none");
    this.tip.replaceChildren(...this.describe(view.variant, at));
    this.tip.hidden = false;
    const box = view.overlay.node().getBoundingClientRect();
    const scale = box.width / this.picture.xScale.range()[1];
    const left = box.left + x * scale, top = box.top + y * scale;
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const aside = left + 18 + width < document.documentElement.clientWidth ? left + 18
      : Math.max(6, left - 18 - width);
    const below = top + 12 + height < window.innerHeight ? top + 12
      : Math.max(6, top - 12 - height);
    this.tip.style.left = `${aside + window.scrollX}px`;
    this.tip.style.top = `${below + window.scrollY}px`;
  }

  // Names become text, never markup.
  describe(variant, at) {
    const { sections, symbols, causes } = this.picture.data;
    const kind = variant.kind[at];
    const title = document.createElement("b");
    title.textContent = KIND_OF[kind] + (kind === "F" ? ` of ${bytesText(variant.bytes[at])}` : "")
      + (variant.backward[at] ? ", backwards" : "");
    const rows = [["file", variant.files[variant.file[at]]],
      ["offset", `0x${variant.offset[at].toString(16)} (${bytesText(variant.offset[at])})`]];
    if (variant.section[at] >= 0) rows.push(["section", sections[variant.section[at]]]);
    if (variant.symbol[at] >= 0) rows.push(["symbol", symbols[variant.symbol[at]]]);
    if (variant.by && variant.by[at] >= 0) rows.push(["touched by", symbols[variant.by[at]]]);
    rows.push(["cause", causes[variant.cause[at]]], ["time", timeText(variant.time[at])]);
    const process = variant.processes[variant.process[at]];
    rows.push(["thread", variant.thread[at] + (process ? ` of ${process}` : "")]);
    const list = document.createElement("dl");
    for (const [name, value] of rows) {
      const term = document.createElement("dt"), text = document.createElement("dd");
      term.textContent = name;
      text.textContent = value;
      if (value.length > 60) text.className = "long";
      list.append(term, text);
    }
    return [title, list];
  }
}
