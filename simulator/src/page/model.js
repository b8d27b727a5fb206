// The recordings: columns of numbers, sorted by time, and where each row's stays are in them.

const RUNNING = 0;
const IDLE = 1;
const UNKNOWN = 2;
const READY = 3;
const LENDING = 4;
const SUSPENDED = 5;
const WAITING = 6;

// Instants from their distances.
function instants(after) {
  const all = new Float64Array(after.length);
  let now = 0;
  for (let place = 0; place < after.length; place++) all[place] = now += after[place];
  return all;
}

// For each of `count` rows, the places at which `column` has its number, in order.
function grouped(column, count) {
  const starts = new Uint32Array(count + 1);
  for (const row of column) if (row >= 0) starts[row + 1]++;
  for (let row = 0; row < count; row++) starts[row + 1] += starts[row];
  const next = starts.slice();
  const places = new Uint32Array(starts[count]);
  column.forEach((row, place) => {
    if (row >= 0) places[next[row]++] = place;
  });
  return (row) => places.subarray(starts[row], starts[row + 1]);
}

// How many of the sorted `places` have an instant before `at`, or also at it.
function before(times, places, at, also) {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const time = times[places[middle]];
    if (time < at || (also && time === at)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function recordingOf(data, number) {
  const columns = data.stays;
  const since = instants(columns.after);
  const until = since.map((instant, stay) => instant + columns.length[stay]);
  const stays = {
    since,
    until,
    state: Uint16Array.from(columns.state),
    thread: Int32Array.from(columns.thread),
    processor: Int32Array.from(columns.processor),
    why: Int32Array.from(columns.why),
    end: Int32Array.from(columns.end),
  };
  const recording = {
    ...data,
    number,
    stays,
    lent: new Map(columns.lent),
    threadCount: data.threads.number.length,
    callings: callings(data),
    ready: { at: instants(data.ready.after), count: data.ready.count },
    values: { ...data.values, at: instants(data.values.after) },
    marks: { ...data.marks, at: instants(data.marks.after) },
  };
  recording.ready.places = Uint32Array.from(recording.ready.at.keys());
  recording.ready.most = recording.ready.count.reduce((most, count) => Math.max(most, count), 1);
  recording.ofThread = grouped(stays.thread, recording.threadCount);
  recording.ofProcessor = grouped(stays.processor, data.processors.length);
  // The application's values come first.
  recording.valuesOf = grouped(data.values.thread.map((thread) => thread + 1), recording.threadCount + 1);
  recording.turns = Uint32Array.from(since.keys()).filter((stay) => stays.state[stay] === RUNNING);
  return recording;
}

// What threads are called, as on the command line. A number is used again when its thread has ended: of those that are called alike,
// the second one is `#2`, and so on.
function callings({ names, threads: { number, name } }) {
  const plain = Array.from(number, (its, thread) => (name[thread] < 0 ? `thread ${its}` : `${names[name[thread]]} (${its})`));
  const all = new Map();
  for (const calling of plain) all.set(calling, (all.get(calling) ?? 0) + 1);
  const seen = new Map();
  return plain.map((calling) => {
    if (all.get(calling) === 1) return calling;
    seen.set(calling, (seen.get(calling) ?? 0) + 1);
    return `${calling} #${seen.get(calling)}`;
  });
}

function called(recording, thread) {
  return recording.callings[thread];
}

// Threads with one name are of one kind.
function kindOf(recording, thread) {
  const name = recording.threads.name[thread];
  return name < 0 ? `thread ${recording.threads.number[thread]}` : recording.names[name];
}

// The value of each variable at an instant, of the thread and of the application.
function valuesAt(recording, thread, at) {
  const found = new Map();
  for (const owner of [0, thread + 1]) {
    const places = recording.valuesOf(owner);
    for (let place = before(recording.values.at, places, at, true) - 1; place >= 0; place--) {
      const variable = recording.values.variable[places[place]];
      const name = recording.variables[variable] + (owner === 0 ? " (of the application)" : "");
      if (!found.has(name)) found.set(name, recording.values.value[places[place]]);
      if (found.size === 2 * recording.variables.length) break;
    }
  }
  return found;
}

// How many threads were ready at an instant; undefined: not known.
function readyAt(recording, at) {
  const { at: times, count, places } = recording.ready;
  const place = before(times, places, at, true) - 1;
  return place < 0 ? undefined : count[place];
}

// The stay of a row that is under way at an instant, or else the next one, or else the last one.
function stayNear(recording, places, at) {
  if (places.length === 0) return undefined;
  const last = before(recording.stays.since, places, at, true) - 1;
  const isOver = last < 0 || recording.stays.until[places[last]] < at;
  return places[isOver && last + 1 < places.length ? last + 1 : Math.max(last, 0)];
}

// The turn of a thread before or after an instant.
function turnBeside(recording, thread, stay, step) {
  const places = recording.ofThread(thread);
  let place = places.indexOf(stay) + step;
  while (place >= 0 && place < places.length && recording.stays.state[places[place]] !== RUNNING) place += step;
  return places[place];
}

// The kinds of threads in all recordings: how often and how long they ran, and how long they were ready.
function kindsOf(recordings) {
  const kinds = new Map();
  for (const recording of recordings) {
    const { stays } = recording;
    const ofThread = new Array(recording.threadCount);
    for (let thread = 0; thread < recording.threadCount; thread++) {
      const name = kindOf(recording, thread);
      let kind = kinds.get(name);
      if (kind === undefined) {
        kind = { name, ran: 0, of: recordings.map(() => ({ threads: 0, turns: 0, ran: 0, ready: 0, worst: 0 })) };
        kinds.set(name, kind);
      }
      kind.of[recording.number].threads++;
      ofThread[thread] = kind;
    }
    for (let stay = 0; stay < stays.since.length; stay++) {
      const kind = ofThread[stays.thread[stay]];
      if (kind === undefined) continue;
      const [sums, length] = [kind.of[recording.number], stays.until[stay] - stays.since[stay]];
      if (stays.state[stay] === RUNNING) {
        sums.turns++;
        sums.ran += length;
        kind.ran += length;
      } else if (stays.state[stay] === READY) {
        sums.ready += length;
        sums.worst = Math.max(sums.worst, length);
      }
    }
    recording.kindOfThread = ofThread;
  }
  return [...kinds.values()].sort((one, other) => other.ran - one.ran);
}

// The first turn that differs between two recordings; `same`: how many before it are the same.
function firstDifference([one, other]) {
  const said = (recording, turn) => {
    const stay = recording.turns[turn];
    if (stay === undefined) return undefined;
    const { thread, processor } = recording.stays;
    return { stay, text: `${kindOf(recording, thread[stay])} on processor ${recording.processors[processor[stay]]}` };
  };
  for (let turn = 0; ; turn++) {
    const [a, b] = [said(one, turn), said(other, turn)];
    if (a === undefined && b === undefined) return { same: turn };
    if (a?.text !== b?.text) return { same: turn, stays: [a, b] };
  }
}
