/** Which of the names that a search found are found where texts are compared in capitals, as REST does. */

/** Capitals that share their small letter with another one, such as the Kelvin sign with K: in capitals they are letters of their own. */
const ALONE = /[\u0130\u03f4\u1e9e\u2126\u212a\u212b]/u;

/** Letter by letter; one whose capital is several letters stays as it is. */
const capitals = (text: string): string =>
  text.replace(/\p{L}/gu, (letter) => {
    const capital = letter.toUpperCase();
    return capital.length === letter.length ? capital : letter;
  });

export function inCapitals<T extends { name: string }>(term: string, found: readonly T[]): T[] {
  const all = ALONE.test(term);
  const wanted = capitals(term);
  return found.filter(({ name }) => (!all && !ALONE.test(name)) || capitals(name).includes(wanted));
}
