// Keyboard, mouse, fingers and buttons; and the beginning.

// How far a key or a button moves, and zooms.
const STEP = 0.2;
const FACTOR = 0.6;

const KEYS = {
  ArrowLeft: () => pan(-STEP),
  ArrowRight: () => pan(STEP),
  ArrowUp: () => chooseThread(-1),
  ArrowDown: () => chooseThread(1),
  "+": () => zoom(FACTOR),
  "=": () => zoom(FACTOR),
  "-": () => zoom(1 / FACTOR),
  0: showAll,
  Home: () => show(view.begin, view.begin + view.to - view.from),
  End: () => show(view.end - (view.to - view.from), view.end),
  Enter: zoomToChosen,
};

const SHIFTED = { ArrowLeft: () => chooseTurn(-1), ArrowRight: () => chooseTurn(1), "+": KEYS["+"] };

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const action = (event.shiftKey ? SHIFTED : KEYS)[event.key];
  if (action === undefined) return;
  event.preventDefault();
  action();
}

function onWheel(recording, event) {
  const places = placesIn(recording);
  const along = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
  if (event.ctrlKey) {
    zoom(Math.exp(event.deltaY / 300), places.time(event.offsetX));
  } else if (Math.abs(along) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
    pan(along / (places.width - places.label));
  } else {
    return;
  }
  event.preventDefault();
}

// A pointer that does not move chooses. One that moves drags; two pinch.
function followPointers(recording, scroller) {
  const down = new Map();
  let moved = false;
  const spread = () => {
    const [one, other] = [...down.values()];
    return { middle: (one + other) / 2, wide: Math.max(Math.abs(one - other), 10) };
  };
  scroller.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    down.set(event.pointerId, event.clientX);
    moved = down.size > 1;
  });
  scroller.addEventListener("pointermove", (event) => {
    const { left, top } = scroller.getBoundingClientRect();
    const places = placesIn(recording);
    const x = event.clientX - left - scroller.clientLeft;
    view.pointed = x < places.label ? undefined : places.time(x);
    changed();
    const last = down.get(event.pointerId);
    if (last === undefined || top === undefined) return;
    const far = event.clientX - last;
    if (!moved && Math.abs(far) < 4) return;
    moved = true;
    scroller.setPointerCapture(event.pointerId);
    if (down.size === 1) {
      down.set(event.pointerId, event.clientX);
      pan(-far / (places.width - places.label));
      return;
    }
    const earlier = spread();
    down.set(event.pointerId, event.clientX);
    const now = spread();
    zoom(earlier.wide / now.wide, places.time(now.middle - left));
  });
  scroller.addEventListener("pointerup", (event) => {
    if (down.has(event.pointerId) && !moved) onClick(recording, scroller, event);
    down.delete(event.pointerId);
  });
  scroller.addEventListener("pointercancel", (event) => down.delete(event.pointerId));
  scroller.addEventListener("pointerleave", () => {
    view.pointed = undefined;
    changed();
  });
}

function onClick(recording, scroller, event) {
  const { left, top } = scroller.getBoundingClientRect();
  const found = stayAt(recording, event.clientX - left - scroller.clientLeft, event.clientY - top - scroller.clientTop);
  if (found !== undefined) choose(recording.number, found.thread, found.stay);
}

function addTimeline(recording) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const spacer = element("div", {}, canvas);
  const told = `${counted(recording.threadCount, "thread")}, ${counted(recording.processors.length, "processor")}, ${counted(recording.turns.length, "turn")}`;
  const scroller = element(
    "div",
    {
      class: "timeline",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "timeline",
      "aria-label": `${titleOf(recording)}: ${told}. Arrow keys move and choose threads; question mark lists all keys.`,
    },
    spacer,
  );
  byId("recordings").append(element("h2", {}, titleOf(recording)), element("p", {}, told), scroller);
  timelines.push({ scroller, spacer, canvas });
  scroller.addEventListener("keydown", onKey);
  scroller.addEventListener("wheel", (event) => onWheel(recording, event), { passive: false });
  scroller.addEventListener("scroll", changed);
  scroller.addEventListener("focus", () => {
    view.current = recording.number;
    changed();
  });
  followPointers(recording, scroller);
}

// The key: how each kind of threads and each state looks.
function addKey() {
  const sign = (draw) => {
    const canvas = element("canvas", { width: "44", height: "28", "aria-hidden": "true" });
    canvas.style.width = "22px";
    canvas.style.height = "14px";
    const context = canvas.getContext("2d");
    context.scale(2, 2);
    draw(context);
    return canvas;
  };
  const { colours } = paint;
  const line = (colour, thick, dashes) => (context) => {
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.setLineDash(dashes);
    context.strokeRect(-5, 7, 40, 0);
  };
  const full = (fill) => (context) => {
    context.fillStyle = fill;
    context.fillRect(0, 0, 22, 14);
  };
  const dashed = (context) => {
    context.strokeStyle = colours.ink;
    context.setLineDash([3, 2]);
    context.strokeRect(0.5, 1.5, 21, 11);
  };
  const seen = (state) => view.recordings.some(({ stays }) => stays.state.includes(state));
  const waits = view.recordings.some(({ waits }) => waits.length > 0);
  const kinds = view.kinds.filter((kind) => kind.place < paint.looks.length && kind.ran > 0);
  const others = view.kinds.filter((kind) => kind.place >= paint.looks.length && kind.ran > 0).length;
  const entries = [
    ...kinds.map((kind) => [kind.name, full(paint.looks[kind.place].fill)]),
    others > 0 && [`${counted(others, "other name")}`, full(paint.others.fill)],
    seen(READY) && ["ready", line(colours.ready, 6, [])],
    waits && ["waits", line(colours.waits, 1.5, [])],
    seen(LENDING) && ["waits, and lends its turn", dashed],
    seen(SUSPENDED) && ["suspended", line(colours.waits, 2, [2, 4])],
    seen(UNKNOWN) && ["events are missing", full(paint.dots)],
    view.recordings.some(({ marks }) => marks.at.length > 0) && ["✕ a thread is refused, or the policy is out"],
  ].filter((entry) => entry);
  const item = ([name, draw]) => element("li", {}, ...(draw === undefined ? [] : [sign(draw)]), name);
  byId("key").replaceChildren(...entries.map(item));
}

function addTexts() {
  const titles = view.recordings.map(titleOf);
  document.title = titles.join(" | ");
  byId("title").textContent = titles.join(" and ");
  const about = view.recordings.map(({ host, clock }) => `${host}, clock: ${clock}`);
  byId("about").textContent = `Recorded by ${[...new Set(about)].join("; ")}.`;
  const several = view.recordings.length > 1;
  const notes = view.recordings.flatMap((recording) =>
    recording.notes.map((note) => element("li", {}, (several ? `${titleOf(recording)}: ` : "") + note)),
  );
  byId("notes").replaceChildren(...notes);
  document.body.classList.toggle("several", several);
}

function addButtons() {
  const actions = {
    closer: () => zoom(FACTOR),
    farther: () => zoom(1 / FACTOR),
    all: showAll,
    earlier: () => pan(-STEP),
    later: () => pan(STEP),
    before: () => chooseTurn(-1),
    after: () => chooseTurn(1),
    near: zoomToChosen,
    help: () => byId("keys").showModal(),
  };
  for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
  const search = byId("find");
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && search.value !== "") find(search.value);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "?" && event.target !== search && !byId("keys").open) actions.help();
  });
}

function redraw() {
  readColours();
  addKey();
  changed();
}

function begin() {
  const data = JSON.parse(byId("data").textContent);
  view.looks = data.looks;
  view.recordings = data.recordings.map(recordingOf);
  view.kinds = kindsOf(view.recordings);
  view.kinds.forEach((kind, place) => (kind.place = place));
  view.begin = Math.min(...view.recordings.map(({ from }) => from));
  view.end = Math.max(...view.recordings.map(({ until }) => until), view.begin + 1);
  [view.from, view.to] = [view.begin, view.end];
  addTexts();
  view.recordings.forEach(addTimeline);
  readColours();
  addKey();
  addButtons();
  describeChosen();
  describeDifference();
  listThreads();
  drawAll();
  describeView();
  listTurns();
  timelines[0].scroller.focus({ preventScroll: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new ResizeObserver(changed).observe(byId("recordings"));
}

begin();
