// Numbers, shares and times as people read them: one format for each, on every screen.

const NUMBER = new Intl.NumberFormat("en-GB");
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });

export const number = (value) => NUMBER.format(value);

// "1 item", "2 items".
export const counted = (count, singular, plural = `${singular}s`) =>
  `${number(count)} ${count === 1 ? singular : plural}`;

export const items = (count) => counted(count, "item");

// A share of 0 to 1 in per cent. Only exactly 1 is "100%" and only exactly 0 is "0%".
export function percent(share) {
  const value = 100 * share;
  if (value >= 99.5 && value < 100) return ">99%";
  if (value > 0 && value < 0.05) return "<0.1%";
  return `${value > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)}%`;
}

// A probability that the model estimates: it is never certain, whatever the number.
export const probability = (share) => percent(Math.min(share, 0.999));

export const duration = (seconds) => (seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`);

// A moment as short as it can be: the hour today, the day this year.
export function shortTime(time, now = new Date()) {
  const then = new Date(time);
  if (Number.isNaN(then.getTime())) return "";
  if (then.toDateString() === now.toDateString()) return CLOCK.format(then);
  if (then.getFullYear() === now.getFullYear()) return `${DAY.format(then)}, ${CLOCK.format(then)}`;
  return DATE.format(then);
}

// A message as a sentence, whether it ends with a full stop or not.
export const sentence = (words) => `${words.replace(/[.\s]+$/, "")}.`;
