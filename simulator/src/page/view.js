// Which part is in view, and what is chosen.

// The shortest time that is shown across the whole width.
const SHORTEST = 20;

const view = {
  recordings: [],
  kinds: [],
  // All of the time, and the part in view.
  begin: 0,
  end: 1,
  from: 0,
  to: 1,
  // A recording's number, a thread of it, and one of its stays; or none.
  chosen: undefined,
  // The recording whose timeline has, or had, the focus.
  current: 0,
  // The instant under the mouse.
  pointed: undefined,
};

function show(from, to) {
  const whole = view.end - view.begin;
  const length = Math.min(Math.max(to - from, Math.min(SHORTEST, whole)), whole);
  view.from = Math.min(Math.max(from, view.begin), view.end - length);
  view.to = view.from + length;
  changed();
}

function zoom(factor, around) {
  const middle = around ?? (view.from + view.to) / 2;
  show(middle - (middle - view.from) * factor, middle + (view.to - middle) * factor);
}

// By a part of what is in view.
function pan(part) {
  const length = view.to - view.from;
  const from = Math.min(Math.max(view.from + part * length, view.begin), view.end - length);
  show(from, from + length);
}

function showAll() {
  show(view.begin, view.end);
}

function choose(number, thread, stay) {
  view.chosen = { number, thread, stay };
  view.current = number;
  if (stay !== undefined) bringIntoView(view.recordings[number].stays, stay);
  scrollToThread(number, thread);
  describeChosen();
  changed();
}

function bringIntoView(stays, stay) {
  const [since, until, length] = [stays.since[stay], stays.until[stay], view.to - view.from];
  if (until < view.from || since > view.to) show(since - length / 3, since + (length * 2) / 3);
}

function chooseThread(step) {
  const { chosen } = view;
  const number = chosen?.number === view.current ? chosen.number : view.current;
  const recording = view.recordings[number];
  if (recording.threadCount === 0) return;
  const now = chosen?.number === number ? chosen.thread : step > 0 ? -1 : recording.threadCount;
  const thread = Math.min(Math.max(now + step, 0), recording.threadCount - 1);
  const middle = (view.from + view.to) / 2;
  const at = chosen?.stay === undefined ? middle : view.recordings[chosen.number].stays.since[chosen.stay];
  choose(number, thread, stayNear(recording, recording.ofThread(thread), at));
}

function chooseTurn(step) {
  const { chosen } = view;
  if (chosen === undefined || chosen.thread < 0) return chooseThread(1);
  const recording = view.recordings[chosen.number];
  const turn = turnBeside(recording, chosen.thread, chosen.stay, step);
  if (turn !== undefined) choose(chosen.number, chosen.thread, turn);
}

function zoomToChosen() {
  if (view.chosen?.stay === undefined) return;
  const { since, until } = view.recordings[view.chosen.number].stays;
  const [from, to] = [since[view.chosen.stay], until[view.chosen.stay]];
  const room = Math.max(to - from, SHORTEST);
  show(from - room, to + room);
}

// The next thread, from the chosen one on, whose name contains a text.
function find(text) {
  const recording = view.recordings[view.current];
  const first = view.chosen?.number === recording.number ? view.chosen.thread + 1 : 0;
  for (let step = 0; step < recording.threadCount; step++) {
    const thread = (first + step) % recording.threadCount;
    if (!called(recording, thread).toLowerCase().includes(text.toLowerCase())) continue;
    const places = recording.ofThread(thread);
    return choose(recording.number, thread, stayNear(recording, places, (view.from + view.to) / 2));
  }
}

let isDrawn = true;

// Draws at the next frame; tables follow when nothing has changed for a moment.
function changed() {
  if (!isDrawn) return;
  isDrawn = false;
  requestAnimationFrame(() => {
    isDrawn = true;
    drawAll();
    describeView();
  });
}
