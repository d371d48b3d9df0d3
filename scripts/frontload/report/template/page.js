// The page around the pictures: their controls and legend.

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function addControls(picture, data) {
  const files = element("select", { id: "file" }, new Option("all files", -1),
    ...data.files.map((file, number) => new Option(middle(file.label, 60), number)));
  files.onchange = () => {
    picture.choose(Number(files.value));
    drawLegend(picture);
  };
  document.getElementById("controls").append(element("label", {}, "show ", files),
    element("small", {}, "drag to zoom, double-click to see all"));
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
  const counts = picture.counts();
  const entry = (what, label, drawn) => {
    const numbers = counts.map((count) => (count.get(what) || 0).toLocaleString("en"));
    const button = element("button", { type: "button" }, drawn, middle(label, 40),
      element("small", {}, numbers.join(" → ")));
    button.setAttribute("aria-pressed", !picture.hidden.has(what));
    button.onclick = () => {
      if (!picture.hidden.delete(what)) picture.hidden.add(what);
      button.setAttribute("aria-pressed", !picture.hidden.has(what));
      picture.draw();
    };
    return button;
  };
  document.getElementById("legend").replaceChildren(
    ...Object.entries(KIND_NAMES).map(([kind, label]) => entry(kind, label, sample(kind))),
    element("span", { className: "rest" }),
    ...d3.range(picture.data.causes.length)
      .filter((cause) => counts.some((count) => count.has(cause)))
      .map((cause) => entry(cause, picture.data.causes[cause],
        element("span", { className: `dot k${cause}` }))));
}

const panels = document.getElementById("panels");
if (panels) { // else nothing was recorded
  const data = JSON.parse(document.getElementById("data").textContent);
  const picture = new FaultPicture(data, panels, document.getElementById("tip"));
  addControls(picture, data);
  drawLegend(picture);
}
document.documentElement.dataset.drawn = "yes";
