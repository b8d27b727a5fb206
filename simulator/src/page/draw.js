// Draws the timelines: an axis, a row for each processor, how many threads are ready, and a row for each thread.
// Only what can be seen is drawn. What is narrower than a bar can be is drawn as its share of a narrow column.

const AXIS = 22;
const ROW = 22;
const CHART = 44;
// The height of a bar in its row.
const BAR = 16;
const COLUMN = 2;
const FONT = "13px system-ui, sans-serif";

const paint = { colours: {}, looks: [], others: undefined, dots: undefined };

// The elements of each recording, by its number.
const timelines = [];

// Reads the colours, which change with the preferred scheme.
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "raised", "ink", "faint", "line", "ready", "waits", "link"])
    paint.colours[name] = style.getPropertyValue(`--${name}`).trim();
  const { ink, raised, ground } = paint.colours;
  paint.looks = view.looks.map((look) => ({ colour: look.colour, fill: tile(look.colour, look.ink, look.hatch) }));
  paint.others = { colour: paint.colours.faint, fill: tile(raised, ink, "") };
  paint.dots = tile(ground, paint.colours.faint, "M0 1h1v1h-1zM3 4h1v1h-1z");
}

// A pattern of squares of 6 by 6.
function tile(ground, ink, hatch) {
  const scale = 2;
  const square = document.createElement("canvas");
  square.width = square.height = 6 * scale;
  const context = square.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = ground;
  context.fillRect(0, 0, 6, 6);
  context.fillStyle = context.strokeStyle = ink;
  context.lineWidth = 1.1;
  const path = new Path2D(hatch);
  context.fill(path);
  context.stroke(path);
  const pattern = context.createPattern(square, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / scale));
  return pattern;
}

function lookOf(recording, thread) {
  return paint.looks[recording.kindOfThread[thread].place] ?? paint.others;
}

// Where things are in a timeline.
function placesIn(recording) {
  const { scroller } = timelines[recording.number];
  const width = scroller.clientWidth;
  const label = Math.round(Math.min(160, Math.max(88, width * 0.28)));
  const scale = (width - label) / (view.to - view.from);
  const chart = AXIS + recording.processors.length * ROW;
  const threads = chart + (recording.ready.count.length > 0 ? CHART : 0);
  return {
    width,
    height: scroller.clientHeight,
    label,
    chart,
    threads,
    all: threads + recording.threadCount * ROW,
    x: (time) => label + (time - view.from) * scale,
    time: (x) => view.from + (x - label) / scale,
    scale,
  };
}

function drawAll() {
  view.recordings.forEach(drawRecording);
}

function drawRecording(recording) {
  const { scroller, spacer, canvas } = timelines[recording.number];
  spacer.style.height = `${placesIn(recording).all}px`;
  const places = placesIn(recording);
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(places.width * ratio), Math.round(places.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) {
    [canvas.width, canvas.height] = [width, height];
    [canvas.style.width, canvas.style.height] = [`${places.width}px`, `${places.height}px`];
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = paint.colours.ground;
  context.fillRect(0, 0, places.width, places.height);
  context.font = FONT;
  context.textBaseline = "middle";
  const scrolled = scroller.scrollTop;
  context.save();
  context.translate(0, -scrolled);
  drawRows(context, recording, places, scrolled);
  context.restore();
  drawMarks(context, recording, places, scrolled);
  drawAxis(context, places);
}

function drawRows(context, recording, places, scrolled) {
  const seen = (top, height) => top + height > scrolled + AXIS && top < scrolled + places.height;
  recording.processors.forEach((number, processor) => {
    const top = AXIS + processor * ROW;
    if (!seen(top, ROW)) return;
    drawLabel(context, places, top, ROW, `processor ${number}`);
    drawStays(context, recording, places, recording.ofProcessor(processor), top, true);
  });
  if (places.threads > places.chart && seen(places.chart, CHART)) drawReady(context, recording, places);
  const first = Math.max(0, Math.floor((scrolled + AXIS - places.threads) / ROW));
  const last = Math.min(recording.threadCount, Math.ceil((scrolled + places.height - places.threads) / ROW));
  for (let thread = first; thread < last; thread++) {
    const top = places.threads + thread * ROW;
    if (view.chosen?.number === recording.number && view.chosen.thread === thread) {
      context.fillStyle = paint.colours.raised;
      context.fillRect(0, top, places.width, ROW);
    }
    drawLabel(context, places, top, ROW, called(recording, thread));
    drawStays(context, recording, places, recording.ofThread(thread), top, false);
  }
  drawChosen(context, recording, places);
}

function drawLabel(context, places, top, height, text) {
  context.fillStyle = paint.colours.ink;
  context.fillText(fitted(context, text, places.label - 10), 4, top + height / 2);
}

// A text that is no wider than this.
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low) + "…";
}

function drawStays(context, recording, places, row, top, ofProcessor) {
  const { since, until } = recording.stays;
  context.save();
  context.beginPath();
  context.rect(places.label, top, places.width - places.label, ROW);
  context.clip();
  let place = before(until, row, view.from, false);
  while (place < row.length && since[row[place]] <= view.to) {
    const stay = row[place];
    if ((until[stay] - since[stay]) * places.scale >= COLUMN) {
      drawStay(context, recording, places, stay, top, ofProcessor);
      place++;
    } else {
      place = drawColumn(context, recording, places, row, place, top);
    }
  }
  context.restore();
}

function drawStay(context, recording, places, stay, top, ofProcessor) {
  const { since, until, state, thread } = recording.stays;
  const left = Math.max(places.x(since[stay]), places.label - 2);
  const width = Math.min(places.x(until[stay]), places.width + 2) - left;
  const [middle, { colours }] = [top + ROW / 2, paint];
  const line = (colour, thick, dashes) => {
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.setLineDash(dashes);
    context.beginPath();
    context.moveTo(left, middle);
    context.lineTo(left + width, middle);
    context.stroke();
    context.setLineDash([]);
  };
  switch (state[stay]) {
    case RUNNING: {
      const look = lookOf(recording, thread[stay]);
      context.fillStyle = look.fill;
      context.fillRect(left, middle - BAR / 2, width, BAR);
      context.strokeStyle = colours.ground;
      context.lineWidth = 1;
      context.strokeRect(left, middle - BAR / 2, width, BAR);
      if (recording.lent.has(stay)) {
        line(colours.ground, 5, []);
        line(colours.ink, 2, []);
      }
      if (ofProcessor) drawName(context, recording, thread[stay], left, width, middle);
      break;
    }
    case UNKNOWN:
      context.fillStyle = paint.dots;
      context.fillRect(left, middle - BAR / 2, width, BAR);
      break;
    case READY:
      context.fillStyle = colours.ready;
      context.fillRect(left, middle - 3, width, 6);
      break;
    case LENDING:
      context.strokeStyle = colours.ink;
      context.lineWidth = 1;
      context.setLineDash([3, 2]);
      context.strokeRect(left + 0.5, middle - 5.5, width - 1, 11);
      context.setLineDash([]);
      break;
    case SUSPENDED:
      line(colours.waits, 2, [2, 4]);
      break;
    case IDLE:
      break;
    default:
      line(colours.waits, 1.5, []);
  }
}

// The name of a thread on its bar, if there is room.
function drawName(context, recording, thread, left, width, middle) {
  const visible = width - 8;
  if (visible < 28) return;
  const text = fitted(context, kindOf(recording, thread), visible - 6);
  if (text === "…") return;
  context.fillStyle = paint.colours.ground;
  context.fillRect(left + 4, middle - 7, context.measureText(text).width + 6, 14);
  context.fillStyle = paint.colours.ink;
  context.fillText(text, left + 7, middle);
}

// Draws a narrow column of stays that are too short for bars. Returns the place after them.
function drawColumn(context, recording, places, row, place, top) {
  const { since, until, state, thread } = recording.stays;
  const left = places.label + Math.floor((places.x(since[row[place]]) - places.label) / COLUMN) * COLUMN;
  const end = places.time(left + COLUMN);
  const ran = new Map();
  let ready = 0;
  for (; place < row.length && since[row[place]] < end; place++) {
    const stay = row[place];
    const length = until[stay] - since[stay];
    if (length * places.scale >= COLUMN) break;
    if (state[stay] === RUNNING) {
      const { colour } = lookOf(recording, thread[stay]);
      ran.set(colour, (ran.get(colour) ?? 0) + length);
    } else if (state[stay] === READY) ready += length;
  }
  let bottom = top + ROW / 2 + BAR / 2;
  const stack = (colour, length) => {
    const height = Math.min(Math.max((length * places.scale * BAR) / COLUMN, 1), bottom - top);
    context.fillStyle = colour;
    context.fillRect(left, bottom - height, COLUMN, height);
    bottom -= height;
  };
  ran.forEach((length, colour) => stack(colour, length));
  if (ready > 0) stack(paint.colours.ready, ready * 0.4);
  return place;
}

function drawReady(context, recording, places) {
  const { at, count, places: all, most } = recording.ready;
  drawLabel(context, places, places.chart, 22, "ready");
  context.fillStyle = paint.colours.faint;
  context.fillText(fitted(context, `up to ${most}`, places.label - 10), 4, places.chart + 32);
  const [bottom, high] = [places.chart + CHART - 3, CHART - 8];
  context.fillStyle = paint.colours.ready;
  let place = Math.max(before(at, all, view.from, true) - 1, 0);
  while (place < at.length && at[place] <= view.to) {
    const left = Math.max(places.x(at[place]), places.label);
    let highest = count[place];
    // The highest number within a pixel is drawn.
    while (place + 1 < at.length && places.x(at[place + 1]) < left + 1) highest = Math.max(highest, count[++place]);
    const until = place + 1 < at.length ? at[place + 1] : recording.until;
    const height = (highest / most) * high;
    context.fillRect(left, bottom - height, Math.max(Math.min(places.x(until), places.width) - left, 1), height);
    place++;
  }
  context.fillStyle = paint.colours.line;
  context.fillRect(places.label, bottom, places.width - places.label, 1);
}

function drawChosen(context, recording, places) {
  const { chosen } = view;
  if (chosen?.number !== recording.number || chosen.stay === undefined) return;
  const { since, until, processor } = recording.stays;
  const left = Math.max(places.x(since[chosen.stay]), places.label - 4);
  const right = Math.min(places.x(until[chosen.stay]), places.width + 4);
  if (right < places.label || left > places.width) return;
  context.strokeStyle = paint.colours.link;
  context.lineWidth = 3;
  const frame = (top) => context.strokeRect(left - 1.5, top + 1.5, Math.max(right - left, 1) + 3, ROW - 3);
  if (chosen.thread >= 0) frame(places.threads + chosen.thread * ROW);
  if (processor[chosen.stay] >= 0) frame(AXIS + processor[chosen.stay] * ROW);
}

// Policies that are out, and threads that are refused.
function drawMarks(context, recording, places, scrolled) {
  const { at, thread } = recording.marks;
  context.fillStyle = paint.colours.ink;
  let last = -Infinity;
  for (let mark = 0; mark < at.length; mark++) {
    const x = Math.round(places.x(at[mark]));
    if (x < places.label || x > places.width || x === last) continue;
    last = x;
    const top = thread[mark] < 0 ? AXIS : places.threads + thread[mark] * ROW - scrolled;
    if (thread[mark] < 0) context.fillRect(x, AXIS, 1, places.height);
    context.fillText("✕", x - 5, top + ROW / 2);
  }
}

function drawAxis(context, places) {
  const { colours } = paint;
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, places.width, AXIS);
  const step = stepOf(95 / places.scale);
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    const x = places.x(at);
    context.fillStyle = colours.line;
    context.fillRect(x, AXIS - 6, 1, 6);
    context.fillStyle = colours.faint;
    const text = time(at);
    if (x + context.measureText(text).width + 4 < places.width) context.fillText(text, x + 3, AXIS / 2);
  }
  context.fillStyle = colours.line;
  context.fillRect(places.label, AXIS - 1, places.width - places.label, 1);
  if (view.pointed === undefined) return;
  const x = places.x(view.pointed);
  if (x < places.label) return;
  context.fillStyle = colours.link;
  context.fillRect(x, 0, 1, places.height);
  const text = roughly(Math.round(view.pointed));
  const wide = context.measureText(text).width + 6;
  const left = Math.min(x, places.width - wide);
  context.fillStyle = colours.ground;
  context.fillRect(left, 1, wide, AXIS - 3);
  context.fillStyle = colours.link;
  context.fillText(text, left + 3, AXIS / 2);
}

// The least of 1, 2, 5, 10, … nanoseconds that is no shorter than this.
function stepOf(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? 10 * power;
}

function scrollToThread(number, thread) {
  if (thread < 0) return;
  const { scroller } = timelines[number];
  const places = placesIn(view.recordings[number]);
  const top = places.threads + thread * ROW;
  if (top - AXIS < scroller.scrollTop) scroller.scrollTop = thread === 0 ? 0 : top - AXIS;
  else if (top + ROW > scroller.scrollTop + places.height) scroller.scrollTop = top + ROW - places.height;
}

// What is at a point of a timeline: a row's stay there, or the one beside it.
function stayAt(recording, x, y) {
  const { scroller } = timelines[recording.number];
  const places = placesIn(recording);
  const at = places.time(Math.max(x, places.label));
  const row = y + scroller.scrollTop;
  if (y < AXIS || row < AXIS) return undefined;
  if (row < places.chart) {
    const stay = stayNear(recording, recording.ofProcessor(Math.floor((row - AXIS) / ROW)), at);
    return stay === undefined ? undefined : { thread: recording.stays.thread[stay], stay };
  }
  const thread = Math.floor((row - places.threads) / ROW);
  if (row < places.threads || thread >= recording.threadCount) return undefined;
  return { thread, stay: stayNear(recording, recording.ofThread(thread), at) };
}
