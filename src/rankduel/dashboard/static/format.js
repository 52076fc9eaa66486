// Format numbers and times.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

export const count = (n) => whole.format(n);
export const compact = (n) => (n < 100000 ? whole.format(n) : short.format(n).replace("K", "k"));
// Two significant digits, for estimates.
export const about = (n) => compact(Number(n.toPrecision(2)));
export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)}\u00a0%`;
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

export function ago(seconds) {
  const past = Math.max(0, Date.now() / 1000 - seconds);
  for (const [unit, length] of [
    ["d", 86400],
    ["h", 3600],
    ["min", 60],
  ]) {
    const n = Math.floor(past / length);
    if (n >= 1) return `${n}\u00a0${unit} ago`;
  }
  return past < 5 ? "now" : `${Math.floor(past)}\u00a0s ago`;
}

const dates = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
export const date = (seconds) => dates.format(new Date(seconds * 1000));

export const span = (seconds) =>
  seconds >= 86400
    ? plural(Math.round(seconds / 86400), "day")
    : seconds >= 3600
      ? plural(Math.round(seconds / 3600), "hour")
      : seconds >= 60
        ? plural(Math.round(seconds / 60), "minute")
        : plural(Math.round(seconds), "second");

// A share without a trailing zero: 95 % instead of 95.0 %.
export const share = (value) => percent(value, 1).replace(".0\u00a0", "\u00a0");

// An algorithm without parameters that are None. A line may break before the parameters.
export const algorithm = (spec) =>
  spec
    .replace(/,? ?\w+=None/g, "")
    .replace("()", "")
    .replace("(", "\u200b(");

// A text of the server, without line breaks before a percent sign.
export const prose = (text) => text.replaceAll(" %", "\u00a0%");

// A confidence. It is never rounded up to 100 %.
export const confidencePercent = (confidence) =>
  `${Number((100 * Math.min(confidence, 1 - 1e-9)).toFixed(7))}\u00a0%`;

// The evidence against a ranker, in percent of the evidence that eliminates. It is never rounded up.
export const evidencePercent = (share) => `${Math.floor(100 * share)}\u00a0%`;
