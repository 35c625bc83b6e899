/** What a chart says of the day under the pointer: a strip for each, titled by its values. Browsers show titles without any script. */
import escape from 'escape-html';

/** More strips would be narrower than a pointer; of several days one shows the newest. */
const MOST = 120;
/** Digits after the point, in units of the picture. */
const PLACES = 1;

export interface HoveredDay {
  /** Where it is, from the left. */
  x: number;
  title: string;
}

/** `days` from the left to the right. */
export function strips(days: readonly HoveredDay[], { width, height }: { width: number; height: number }): string {
  const every = Math.ceil(days.length / MOST);
  const shown = days.filter((_day, index) => (days.length - 1 - index) % every === 0);
  const borders = shown.map(({ x }, index) => (index === 0 ? 0 : (shown[index - 1]!.x + x) / 2));
  const drawn = shown.map(({ title }, index) => {
    const from = borders[index]!;
    const to = borders[index + 1] ?? width;
    return `<rect x="${from.toFixed(PLACES)}" width="${(to - from).toFixed(PLACES)}" height="${height}"><title>${escape(title)}</title></rect>`;
  });
  return `<g class="days">${drawn.join('')}</g>`;
}
