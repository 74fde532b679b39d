// Numbers as people read them. The exact ones are in the data, and in titles.

function scaled(value, step, units, digits) {
  let unit = 0;
  while (Math.abs(value) >= step && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  return `${value.toFixed(unit === 0 && Number.isInteger(value) ? 0 : digits)} ${units[unit]}`.trim();
}

/** 1536 -> "1.5 KiB". */
const bytesText = bytes => scaled(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1);

/** A power of two, so that an axis up to `most` bytes has few round numbers. */
const bytesStep = most => 2 ** Math.ceil(Math.log2(Math.max(most, 1) / 6));

/** 124439808 -> "124.4 M". */
const countText = count => scaled(count, 1000, ["", "k", "M", "G", "T", "P", "E"], 1);

/** 0.0123 -> "12.3 ms". */
function secondsText(seconds) {
  if (seconds === 0)
    return "0 s";
  if (seconds >= 1)
    return `${seconds.toFixed(2)} s`;
  return seconds >= 1e-3 ? `${(seconds * 1e3).toFixed(2)} ms` : `${(seconds * 1e6).toFixed(1)} µs`;
}

/** Returns the label of an axis, without zeros that say nothing. */
function secondsTick(seconds) {
  const [number, unit] = secondsText(seconds).split(" ");
  return `${Number(number)} ${unit}`;
}

const percentText = share => `${(100 * share).toFixed(1)} %`;

const exactText = count => count.toLocaleString("en-US");

const plural = (count, noun) => `${exactText(count)} ${noun}${count === 1 ? "" : "s"}`;
