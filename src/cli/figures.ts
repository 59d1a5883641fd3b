/**
 * Numbers for people: sizes, durations, rates.
 * Owns how they are rounded.
 */

/** `1.2 GB`, decimal units. */
export function sizeOf(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = 0;
  for (; size >= 999.5 && unit < units.length - 1; unit++) size /= 1000;
  return `${unit === 0 || size >= 99.5 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** `0:05`, `12:00`, `1:00:00`. */
export function durationOf(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (part: number): string => String(part).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Values a second, in three figures. */
export function rateOf(values: number, ms: number): string {
  const rate = ms <= 0 ? 0 : (values * 1000) / ms;
  return rate === 0 ? '0' : String(Number(rate.toPrecision(3)));
}
