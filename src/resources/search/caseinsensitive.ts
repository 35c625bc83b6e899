/** Filters search results by comparing in upper case, as REST compatibility requires. The search itself compares in lower case, which finds more. */

/**
 * Matches capital letters that have the same lower case as another capital letter: the Kelvin sign and K both become k. Only names and terms with
 * such letters need a comparison in upper case.
 */
const CAPITAL_WITH_SHARED_LOWER_CASE_PATTERN = /[\u0130\u03f4\u1e9e\u2126\u212a\u212b]/u;

/** Converts a string to upper case letter by letter. Letters whose upper case consists of several letters, such as ß, are not changed. */
const simpleUpperCase = (text: string): string =>
  text.replace(/\p{L}/gu, (letter) => {
    const upperCaseLetter = letter.toUpperCase();
    return upperCaseLetter.length === letter.length ? upperCaseLetter : letter;
  });

/** Returns the rows whose name contains the term when both are in upper case. */
export function filterCaseInsensitively<T extends { name: string }>(
  term: string,
  rows: readonly T[],
): T[] {
  const comparesAllNames = CAPITAL_WITH_SHARED_LOWER_CASE_PATTERN.test(term);
  const upperCaseTerm = simpleUpperCase(term);
  return rows.filter(
    ({ name }) =>
      (!comparesAllNames && !CAPITAL_WITH_SHARED_LOWER_CASE_PATTERN.test(name)) ||
      simpleUpperCase(name).includes(upperCaseTerm),
  );
}
