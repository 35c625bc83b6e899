/** Filters search results by comparing in upper case, as REST compatibility requires; the search itself compares in lower case. */

/** Upper-case letters that share their lower-case letter with another one, such as the Kelvin sign with K. In upper case the two differ. */
const SHARED_LOWER_CASE = /[\u0130\u03f4\u1e9e\u2126\u212a\u212b]/u;

/** Converts letter by letter; a letter whose upper case has several letters, such as ß, stays as it is. */
const simpleUpperCase = (text: string): string =>
  text.replace(/\p{L}/gu, (letter) => {
    const capital = letter.toUpperCase();
    return capital.length === letter.length ? capital : letter;
  });

/** The rows whose name contains the term when both are in upper case. */
export function filterByUpperCase<T extends { name: string }>(term: string, rows: readonly T[]): T[] {
  const compareAll = SHARED_LOWER_CASE.test(term);
  const upperCaseTerm = simpleUpperCase(term);
  return rows.filter(({ name }) => (!compareAll && !SHARED_LOWER_CASE.test(name)) || simpleUpperCase(name).includes(upperCaseTerm));
}
