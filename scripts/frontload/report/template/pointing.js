// The pointer in the fault pictures: it zooms, and shows what an event is.

const REACH = 9; // pixels from the pointer to the event it means
const KIND_OF = { M: "Major fault", m: "Minor fault", F: "Read" };

const bytesText = (value) => `${d3.format(".3~s")(value)}B`;

class Pointing {
  constructor(picture, tip) {
    this.picture = picture;
    this.tip = tip;
  }

  // A drag selects what to zoom to; a double click shows all.
  listen(view) {
    const { picture } = this;
    let part = null; // the dragged part: d3 gives none at the end of a drag along one axis
    view.zooming = d3.brush().on("brush", () => {
      part = d3.event.selection;
    }).on("end", () => {
      if (!part) return;
      const [[left, top], [right, bottom]] = part;
      const wide = right - left > 6, high = bottom - top > 6;
      view.brush.call(view.zooming.move, null);
      if (!wide && !high) return;
      picture.zoomTo(wide ? [left, right].map(picture.xScale.invert) : picture.x,
        high ? [top, bottom].map(picture.yScale.invert) : picture.y);
    });
    view.brush.on("mousemove", () => this.point(view, d3.mouse(view.brush.node())))
      .on("mouseleave", () => this.unpoint()).on("dblclick", () => picture.reset());
  }

  unpoint() {
    this.tip.hidden = true;
    d3.selectAll(".chosen").remove();
  }

  // Describes the event at a place, if there is one.
  point(view, [x, y]) {
    this.unpoint();
    let best = null, least = REACH;
    for (const point of view.points) {
      const aside = Math.max(point.left - x, x - point.right, 0); // reads are as wide as their bytes
      const distance = Math.hypot(aside, point.y - y);
      if (distance < least) [best, least] = [point, distance];
    }
    if (!best) return;
    const mark = view.top.append("circle").attr("class", "chosen")
      .attr("cx", Math.max(best.left, Math.min(x, best.right))).attr("cy", best.y).attr("r", 7);
    this.tip.replaceChildren(...this.describe(view.variant, best.at));
    this.tip.hidden = false;
    const { left, right, top, bottom } = mark.node().getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const beside = right + 9 + width < document.documentElement.clientWidth ? right + 9
      : Math.max(6, left - 9 - width);
    const below = bottom + 3 + height < window.innerHeight ? bottom + 3
      : Math.max(6, top - 3 - height);
    this.tip.style.left = `${beside + window.scrollX}px`;
    this.tip.style.top = `${below + window.scrollY}px`;
  }

  // Names become text, never markup.
  describe(variant, at) {
    const { sections, symbols, causes } = this.picture.data;
    const kind = variant.kind[at], process = variant.processes[variant.process[at]];
    const title = KIND_OF[kind] + (kind === "F" ? ` of ${bytesText(variant.bytes[at])}` : "")
      + (variant.backward[at] ? ", backwards" : "");
    const rows = [["file", variant.files[variant.file[at]]],
      ["offset", `0x${variant.offset[at].toString(16)} (${bytesText(variant.offset[at])})`],
      ["section", sections[variant.section[at]]], ["symbol", symbols[variant.symbol[at]]],
      ["touched by", variant.by && symbols[variant.by[at]]], ["cause", causes[variant.cause[at]]],
      ["time", `${(variant.time[at] / 1e3).toFixed(2)} ms`],
      ["thread", variant.thread[at] + (process ? ` of ${process}` : "")]];
    return [element("b", {}, title), element("dl", {}, ...rows.filter(([, value]) => value).flatMap(
      ([name, value]) => [element("dt", {}, name), element("dd", {}, value)]))];
  }
}
