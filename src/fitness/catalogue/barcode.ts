/** Barcodes of foods. */
import { invalidArgumentsError, IssueCode } from '../../engine/declare/errors';
import type { CrossFieldRule } from '../../engine/declare/registry';
import { limitViolationMessages } from '../../engine/declare/field-validation';

export const MAX_BARCODE_LENGTH = 200;

/** Throws BAD_USER_INPUT for a value of the argument `code` that no food can have. */
export function checkBarcode(code: string): void {
  const issues = limitViolationMessages(code, {
    kind: 'string',
    maxLength: MAX_BARCODE_LENGTH,
    allowBlank: true,
  });

  if (issues.length) {
    throw invalidArgumentsError(issues.map((message) => ({ path: ['code'], message })));
  }
}

/** Of several imported foods at most one has a barcode (index `ingredient_imported_gtin`). */
export const UNIQUE_BARCODE_RULE: CrossFieldRule = {
  fields: ['code'],
  code: IssueCode.NOT_UNIQUE,
  message: 'Another imported food has this barcode.',
  isEnforcedByDatabase: true,
  async violatedBy(rows, { session }) {
    const [row] = await session.query(
      `WITH given AS (SELECT g."place", i."id", "gtin"(g."code") AS "gtin"
          FROM unnest($1::int[], $2::text[]) WITH ORDINALITY g("id", "code", "place") LEFT JOIN "ingredient" i ON i."id" = g."id" AND i."source_id" IS NOT NULL)
        SELECT array_agg(g."id" IS NOT NULL AND (EXISTS (SELECT FROM given o WHERE o."gtin" = g."gtin" AND o."id" < g."id")
          OR EXISTS (SELECT FROM "ingredient" o WHERE "gtin"(o."code") = g."gtin" AND o."source_id" IS NOT NULL AND o."id" <> ALL($1))) ORDER BY g."place") AS "areDuplicates" FROM given g`,
      [rows.map(({ id }) => id ?? 0), rows.map(({ code }) => code)],
    );

    return row!.areDuplicates as boolean[];
  },
};

/** Numbers of digits of GTIN-8 (EAN-8), GTIN-12 (UPC-A), GTIN-13 (EAN-13) and GTIN-14. */
const GTIN_LENGTHS = [8, 12, 13, 14];

/**
 * Whether the last digit of a GTIN is its check digit (GS1 General Specifications, section 7.9). A
 * code without 8, 12, 13 or 14 digits has none.
 */
export function isGtin(code: string): boolean {
  if (!GTIN_LENGTHS.includes(code.length) || !/^\d+$/.test(code)) return false;
  const digits = [...code].map(Number).reverse();
  const sum = digits.reduce((total, digit, index) => total + digit * (index % 2 ? 3 : 1), 0);

  return sum % 10 === 0;
}

/**
 * Forms in which a barcode may be stored: as given, without the blanks and hyphens between printed
 * digits, and with any number of leading zeros that a GTIN can have (GS1 General Specifications,
 * section 3.3.2). None for a text without characters.
 */
export function equivalentBarcodes(barcode: string): string[] {
  const code = barcode.trim();
  const digits = code.replace(/[\s-]/g, '');

  if (digits === '') return [];
  if (!/^\d+$/.test(digits) || !GTIN_LENGTHS.includes(digits.length)) return [code, digits];
  const significantDigits = digits.replace(/^0+/, '');
  const lengths = GTIN_LENGTHS.filter((length) => length >= significantDigits.length);

  return [code, ...lengths.map((length) => significantDigits.padStart(length, '0'))];
}
