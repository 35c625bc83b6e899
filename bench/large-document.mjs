/** Documents that select many fields. All select the same columns under different aliases. */

/**
 * Together with the list, its `nodes` and one field with an alias that is unique to the document,
 * these are 40 fields.
 */
const FIELDS = `id uuid name nameOriginal description createdOn status licenseAuthor categoryId languageId licenseId baseLicenseId exerciseId nodeId
  category { id name nodeId } language { id fullName shortName nodeId } license { id fullName shortName url } baseLicense { id fullName shortName url }
  muscles { id name isFront }`;

/** Returns a document with 40 fields for each list of so many rows. */
export function documentOf(number, lists, rows) {
  const selections = Array.from(
    { length: lists },
    (_, index) =>
      `list${number}x${index}: exerciseTranslations(first: ${rows}) { nodes { ${FIELDS} own${number}: name } }`,
  );

  return `query Operation${number} { ${selections.join(' ')} }`;
}
