// What is chosen and what is in view, as text: for everybody, and for those who do not see the timelines.

// How many rows the tables have at most.
const MOST_ROWS = 30;

const byId = (id) => document.getElementById(id);

function pairs(list) {
  return element("dl", {}, ...list.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function describeChosen() {
  const { chosen } = view;
  for (const id of ["before", "after"]) byId(id).disabled = chosen === undefined || chosen.thread < 0;
  byId("near").disabled = chosen?.stay === undefined;
  if (chosen === undefined) {
    byId("chosen").replaceChildren(element("p", {}, "Nothing yet: click on a bar, or press ↓ on a timeline."));
    byId("source").replaceChildren();
    return;
  }
  const recording = view.recordings[chosen.number];
  const name = chosen.thread < 0 ? "" : called(recording, chosen.thread);
  if (chosen.stay === undefined) {
    byId("chosen").replaceChildren(element("p", {}, `${name}: ${markOf(recording, chosen.thread)}`));
    byId("source").replaceChildren();
    return;
  }
  byId("chosen").replaceChildren(headline(recording, chosen.stay, name), pairs(facts(recording, chosen.stay)));
  byId("source").replaceChildren(...sourceOf(recording, recording.stays.why[chosen.stay]));
}

// What there is to say of a thread that is in no state.
function markOf(recording, thread) {
  const { at, thread: threads, why } = recording.marks;
  const mark = threads.indexOf(thread);
  if (mark < 0) return "nothing is known of it in this part";
  return `${HAPPENS[recording.whys[why[mark]].kind]} at ${time(at[mark])} (${decided(recording, why[mark])})`;
}

function headline(recording, stay, name) {
  const { since, until, processor } = recording.stays;
  const place = processor[stay] < 0 ? "" : `processor ${recording.processors[processor[stay]]}`;
  const who = name === "" ? place : name;
  const where = name !== "" && place !== "" ? ` on ${place}` : "";
  const of = view.recordings.length > 1 ? `${titleOf(recording)}: ` : "";
  const length = time(until[stay] - since[stay]);
  return element("p", {}, element("strong", {}, `${of}${who} ${stateOf(recording, stay)}${where} for ${length}`));
}

// The facts about a stay: names and texts.
function facts(recording, stay) {
  const { since, until, thread, why, end } = recording.stays;
  const happened = (place) => (place < 0 ? "" : `${HAPPENS[recording.whys[place].kind]}: `);
  const list = [["from", `${time(since[stay])} until ${time(until[stay])}`]];
  if (why[stay] < 0) list.push(["why", "the recording does not say: it began before"]);
  else list.push(["why", happened(why[stay]) + decided(recording, why[stay])]);
  const lender = recording.lent.get(stay);
  if (lender !== undefined) list.push(["on the turn of", called(recording, lender)]);
  const waited = waitedBefore(recording, stay);
  if (waited !== undefined) list.push(["before", waited]);
  if (end[stay] < 0) list.push(["ended", `not before ${time(recording.until)}, where what is shown ends`]);
  else list.push(["ended", endOf(recording, stay)]);
  if (thread[stay] >= 0)
    for (const [name, value] of valuesAt(recording, thread[stay], since[stay])) list.push([name, value]);
  const ready = readyAt(recording, since[stay]);
  if (ready !== undefined) list.push(["ready threads", `${ready} then`]);
  return list;
}

// What ended a stay. Where another thread was dispatched, it is that.
function endOf(recording, stay) {
  const { kind } = recording.whys[recording.stays.end[stay]];
  const next = recording.stays.thread[stay] < 0 ? "" : `${HAPPENS[kind]}: `;
  return next + decided(recording, recording.stays.end[stay]);
}

// How long the thread was ready before its turn.
function waitedBefore(recording, stay) {
  const { since, until, state, thread } = recording.stays;
  if (state[stay] !== RUNNING) return undefined;
  const row = recording.ofThread(thread[stay]);
  const previous = row[row.indexOf(stay) - 1];
  if (previous === undefined || until[previous] !== since[stay]) return undefined;
  return `it ${stateOf(recording, previous).replace(/^is/, "was").replace(/^runs/, "ran").replace(/^waits/, "waited")} for ${time(until[previous] - since[previous])}`;
}

// The lines of the policy around the one that decided.
function sourceOf(recording, why) {
  if (why < 0 || recording.whys[why].line === 0 || recording.whys[why].source < 0) return [];
  const { line, source } = recording.whys[why];
  const { file, text } = recording.sources[source];
  if (text === null) return [element("p", {}, `The text of ${file} is not in this page.`)];
  const lines = text.split("\n");
  if (line > lines.length) return [element("p", {}, `${file} has no line ${line}: it has changed since.`)];
  const shown = element("pre", { "aria-label": `${file}, line ${line}` });
  for (let number = Math.max(line - 4, 1); number <= Math.min(line + 4, lines.length); number++) {
    const told = `${String(number).padStart(4)}  ${lines[number - 1]}`;
    shown.append(number === line ? element("mark", {}, told) : told, "\n");
  }
  const now = recording.host === "simulator" ? "" : ", as it was when this page was made";
  return [element("p", {}, `${file}, line ${line}${now}:`), shown];
}

// ---- What is in view

let settling;

// Tables are made anew once nothing has changed for a moment.
function describeView() {
  const whole = view.end - view.begin;
  const [from, to] = [roughly(Math.round(view.from)), roughly(Math.round(view.to))];
  byId("part").textContent =
    view.to - view.from >= whole ? `all: ${from} to ${to}` : `${from} to ${to} of ${roughly(whole)}`;
  clearTimeout(settling);
  settling = setTimeout(listTurns, 150);
}

function row(kind, cells) {
  const numeric = (cell) => (cell.number ? { class: "number" } : {});
  const head = (cell) => (kind === "th" ? { scope: "col" } : {});
  return element("tr", {}, ...cells.map((cell) => element(kind, { ...numeric(cell), ...head(cell) }, cell.is ?? cell)));
}

function listTurns() {
  const recording = view.recordings[view.current];
  const { since, until, thread, processor, why } = recording.stays;
  // Turns that began before the view are few: one for each processor.
  const places = recording.turns;
  const first = before(since, places, view.from, false);
  const last = before(since, places, view.to, true);
  const begun = [...recording.processors.keys()].map((number) => {
    const own = recording.ofProcessor(number);
    return own[before(since, own, view.from, false) - 1];
  });
  const running = begun.filter((stay) => recording.stays.state[stay] === RUNNING && until[stay] > view.from);
  const seen = [...running, ...places.subarray(first, Math.min(last, first + MOST_ROWS))].slice(0, MOST_ROWS);
  const all = running.length + last - first;
  const of = view.recordings.length > 1 ? ` of ${titleOf(recording)}` : "";
  byId("turns-about").textContent =
    all > seen.length ? `The first ${seen.length} of ${counted(all, "turn")}${of}.` : `${counted(all, "turn")}${of}.`;
  const head = [{ is: "from", number: true }, { is: "for", number: true }, "thread", "processor", "why"];
  const rows = seen.map((stay) => {
    const go = element("button", { type: "button" }, time(since[stay]));
    go.addEventListener("click", () => choose(recording.number, thread[stay], stay));
    const length = { is: time(until[stay] - since[stay]), number: true };
    const where = String(recording.processors[processor[stay]]);
    return row("td", [{ is: go, number: true }, length, called(recording, thread[stay]), where, decided(recording, why[stay])]);
  });
  byId("turns").replaceChildren(element("thead", {}, row("th", head)), element("tbody", {}, ...rows));
}

function listThreads() {
  const several = view.recordings.length > 1;
  const number = (is) => ({ is, number: true });
  const head = ["threads", several ? "in" : "", "count", "turns", "ran", "share", "ready for", "worst"];
  const wanted = (cell, place) => several || place !== 1;
  const rows = view.kinds.slice(0, MOST_ROWS).flatMap((kind) =>
    kind.of.map((sums, place) => {
      const recording = view.recordings[place];
      const whole = (recording.until - recording.from) * Math.max(recording.processors.length, 1);
      const cells = [
        kind.name,
        titleOf(recording),
        number(String(sums.threads)),
        number(String(sums.turns)),
        number(roughly(sums.ran)),
        number(`${((100 * sums.ran) / Math.max(whole, 1)).toFixed(1)}%`),
        number(roughly(sums.ready)),
        number(roughly(sums.worst)),
      ];
      return row("td", cells.filter(wanted));
    }),
  );
  const titles = head.map((is, place) => (place < 2 ? is : number(is))).filter(wanted);
  byId("threads").replaceChildren(element("thead", {}, row("th", titles)), element("tbody", {}, ...rows));
  const left = view.kinds.length - MOST_ROWS;
  const more = left > 0 ? ` ${counted(left, "name")} more are left out here: those that ran least.` : "";
  byId("threads-about").textContent = `In the part that this page has; a share is of all processors.${more}`;
}

function describeDifference() {
  if (view.recordings.length !== 2) return;
  byId("difference").hidden = false;
  const { same, stays } = firstDifference(view.recordings);
  const go = byId("go");
  if (stays === undefined) {
    go.hidden = true;
    byId("differs").textContent = `None: all ${counted(same, "decision")} are the same, whatever their times.`;
    return;
  }
  const side = (place) => {
    const [recording, turn] = [view.recordings[place], stays[place]];
    if (turn === undefined) return `${titleOf(recording)} decides nothing more`;
    const { since, why } = recording.stays;
    return `${titleOf(recording)} runs ${turn.text} at ${time(since[turn.stay])} (${decided(recording, why[turn.stay])})`;
  };
  byId("differs").textContent = `After ${counted(same, "decision")} that are the same, ${side(0)}; ${side(1)}.`;
  go.addEventListener("click", () => {
    const place = stays[0] === undefined ? 1 : 0;
    const { stay } = stays[place];
    choose(place, view.recordings[place].stays.thread[stay], stay);
    timelines[place].scroller.scrollIntoView({ block: "nearest" });
  });
}

// `web under cow`; if both recordings are called so, with its place.
function titleOf(recording) {
  const title = ({ title, policy }) => (policy === "" ? title : `${title} under ${policy}`);
  const own = title(recording);
  const alike = view.recordings.filter((other) => title(other) === own).length > 1;
  return alike ? `${own} (${recording.number === 0 ? "first" : "second"})` : own;
}
