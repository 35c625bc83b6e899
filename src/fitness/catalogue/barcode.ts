/** Barcodes of foods. */
import { invalidArgumentsError } from '../../engine/declare/errors';
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
