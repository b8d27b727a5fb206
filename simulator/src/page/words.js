// Words for what the page shows.

// A duration or an instant in nanoseconds, with all its digits.
function time(nanoseconds) {
  const length = Math.abs(nanoseconds);
  if (length === 0) return "0ns";
  const [unit, scale, digits] =
    length < 1e3 ? ["ns", 1, 0] : length < 1e6 ? ["us", 1e3, 3] : length < 1e9 ? ["ms", 1e6, 6] : ["s", 1e9, 9];
  const text = (nanoseconds / scale).toFixed(digits);
  return (digits > 0 ? text.replace(/0+$/, "").replace(/\.$/, "") : text) + unit;
}

// The same with about four digits.
function roughly(nanoseconds) {
  const length = Math.abs(nanoseconds);
  if (length < 1) return "0ns";
  const power = Math.max(0, Math.floor(Math.log10(length)) - 3);
  const step = 10 ** power;
  return time(Math.round(nanoseconds / step) * step);
}

function counted(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

// What a kind of record means for the thread that it is about.
const HAPPENS = {
  new: "it came",
  dispatched: "it was dispatched",
  lent: "it got the turn of a thread that waits for it, or went on with its own turn",
  "switched-out": "it gave the processor up",
  preempted: "it was preempted",
  blocked: "it began to wait",
  raised: "its wait was over",
  exited: "it ended",
  refused: "the policy refused it",
  "policy-out": "a guard of the policy failed",
  suspended: "it was suspended",
  resumed: "it was resumed",
  idle: "there was nothing to run",
  lost: "events are missing",
};

// What was so for a while.
function stateOf(recording, stay) {
  const state = recording.stays.state[stay];
  switch (state) {
    case RUNNING:
      return recording.lent.has(stay) ? "runs on a lent turn" : "runs";
    case IDLE:
      return "idles";
    case UNKNOWN:
      return "is unknown: events are missing";
    case READY:
      return "is ready";
    case LENDING:
      return "waits, and lends its turn";
    case SUSPENDED:
      return "is suspended";
    default: {
      const wait = recording.waits[state - WAITING].replace(/^blocked:? ?/, "");
      return wait === "" ? "waits" : `waits: ${wait}`;
    }
  }
}

// Who decided: `timeout.turn, round_robin.sched:25`.
function decided(recording, why) {
  if (why < 0) return "the recording does not say";
  const { kind, event, line, source, exact } = recording.whys[why];
  if (event === "" && line === 0) return kind === "idle" ? "no handler decided that" : "the recording does not say why";
  const file = source < 0 ? "" : recording.sources[source].file.split("/").pop();
  const place = line === 0 ? "no line of the policy" : file === "" ? `line ${line}` : `${file}:${line}`;
  const begins = line > 0 && !exact ? ", where the handler begins" : "";
  return [event, place].filter((word) => word !== "").join(", ") + begins;
}

// An element with texts and elements in it. Texts stay texts.
function element(name, attributes, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}
