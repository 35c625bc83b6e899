/**
 * Linter for the SQL of migrations. It accepts only statements known to be safe while requests run:
 * they block requests for a moment at most, and servers of the previous version continue to work.
 * PostgreSQL's locks: https://www.postgresql.org/docs/current/explicit-locking.html
 */

/**
 * The first version that can share a database with a newer one. A migration that requires a later
 * version may remove what that version no longer uses.
 */
export const BASELINE = '0.3.0';

export interface MigrationSql {
  name: string;
  oldestVersion?: string;
  maintenance?: string;

  /**
   * `true`: all texts are executed in one transaction. Otherwise each text is a transaction of its
   * own.
   */
  transactional: boolean;
  texts: readonly string[];
}

/** Splits a text into statements with empty literals, and without comments and function bodies. */
const statementsOf = (text: string): string[] =>
  text
    .replace(/--[^\n]*|\/\*.*?\*\//gs, ' ')
    .replace(/\$(\w*)\$.*?\$\1\$|'(?:[^']|'')*'/gs, `''`)
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter(Boolean);

const NAME = String.raw`(?:IF EXISTS |IF NOT EXISTS |ONLY )*"?\w+"?`;
const pattern = (text: string) => new RegExp(`^${text.replaceAll('NAME', NAME)}$`, 'i');

const CONSTANT = String.raw`(?:''|-?[\d.]+|true|false|null|now\(\)|current_date)(?:::[\w ]+(?:\[\])?)?`;
const TYPE = String.raw`(?!\w*serial\b)(?:character varying|double precision|\w+)(?:\([\d, ]+\))?(?:\[\])?(?: COLLATE "\w+")?`;

const SAFE_STATEMENTS = [
  String.raw`(?:SELECT|SET LOCAL|COMMENT ON|GRANT)\b(?!.* FOR (?:NO KEY )?UPDATE\b).*`,
  String.raw`INSERT INTO .*`,
  String.raw`CREATE (?:OR REPLACE )?(?:FUNCTION|TRIGGER|VIEW)\b.*`,
  String.raw`(?:CREATE|ALTER) POLICY\b.*`,
  String.raw`CREATE TABLE .*`,
  // A batch of fill(), and a lock that conflicts with no request.
  String.raw`UPDATE .* FOR NO KEY UPDATE SKIP LOCKED\)`,
  String.raw`LOCK TABLE NAME IN SHARE UPDATE EXCLUSIVE MODE`,
].map(pattern);
const CONCURRENT_STATEMENTS = [
  String.raw`CREATE (?:UNIQUE )?INDEX CONCURRENTLY .*`,
  String.raw`DROP INDEX CONCURRENTLY .*`,
].map(pattern);

const SAFE_ACTIONS = [
  `ADD COLUMN NAME ${TYPE}(?: NULL| DEFAULT ${CONSTANT}| DEFAULT ${CONSTANT} NOT NULL| NOT NULL DEFAULT ${CONSTANT})?`,
  String.raw`ADD (?:CONSTRAINT NAME )?(?:CHECK|FOREIGN KEY) .* NOT VALID`,
  String.raw`ADD CONSTRAINT NAME UNIQUE USING INDEX NAME(?: .*)?`,
  String.raw`DROP CONSTRAINT NAME`,
  String.raw`ALTER (?:COLUMN )?NAME (?:DROP NOT NULL|DROP DEFAULT|SET DEFAULT .*|SET STATISTICS \d+|DROP EXPRESSION(?: IF EXISTS)?)`,
].map(pattern);
const VALIDATION = /^ALTER TABLE "?(\w+)"? VALIDATE CONSTRAINT "?(\w+)"?$/i;
const NOT_NULL = /^ALTER (?:COLUMN )?"?(\w+)"? SET NOT NULL$/i;
const PROOF = /^ADD CONSTRAINT "?(\w+)"? CHECK \("?(\w+)"? IS NOT NULL\) NOT VALID$/i;
const REMOVALS = [
  String.raw`DROP (?:TABLE|VIEW|TRIGGER|FUNCTION) .*`,
  String.raw`ALTER TABLE NAME DROP COLUMN NAME`,
].map(pattern);

const CREATED = /^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?"?(\w+)"?/i;
const CHANGED = [
  /^(?:ALTER|DROP) TABLE (?:IF EXISTS |ONLY )*"?(\w+)"?/i,
  /^CREATE (?:UNIQUE )?INDEX .*?\bON (?:ONLY )?"?(\w+)"?/i,
  /^(?:CREATE(?: OR REPLACE)?|DROP) TRIGGER .*?\bON "?(\w+)"?/i,
  /^(?:CREATE|ALTER|DROP) POLICY .*?\bON "?(\w+)"?/i,
];
const changedTable = (statement: string) =>
  CHANGED.map((one) => one.exec(statement)?.[1]).find((table) => table !== undefined);

/** Returns the actions of ALTER TABLE: the parts between commas outside of parentheses. */
const actionsOf = (statement: string): string[] =>
  statement
    .replace(/^ALTER TABLE (?:IF EXISTS |ONLY )*"?\w+"? /i, '')
    .split(/,(?![^()]*\))/)
    .map((action) => action.trim());

export function faultsOf({
  maintenance,
  oldestVersion,
  transactional,
  texts,
}: MigrationSql): string[] {
  const faults: string[] = oldestVersion === undefined ? ['does not declare oldestVersion'] : [];

  if (maintenance !== undefined) return faults;
  const transactions = (transactional ? [texts.join(';\n')] : texts).map(statementsOf);
  const created = new Set(transactions.flat().map((statement) => CREATED.exec(statement)?.[1]));
  const proofs = new Map<string, string>();
  const proven = new Set<string>();

  const isSafe = (statement: string, others: number): boolean => {
    const table = changedTable(statement);
    const [, validatedTable, constraint] = VALIDATION.exec(statement) ?? [];

    if (table !== undefined && created.has(table)) return true;
    if (oldestVersion !== BASELINE && REMOVALS.some((one) => one.test(statement))) return true;

    if (validatedTable !== undefined) {
      proven.add(proofs.get(`${validatedTable}.${constraint}`) ?? '');
      // In the same transaction as another statement, the scan would prolong the lock of that
      // statement.
      return others === 0;
    }

    if (!/^ALTER TABLE\b/i.test(statement)) {
      return [...SAFE_STATEMENTS, ...(transactional ? [] : CONCURRENT_STATEMENTS)].some((one) =>
        one.test(statement),
      );
    }

    return actionsOf(statement).every((action) => {
      const [, name, column] = PROOF.exec(action) ?? [];

      if (name !== undefined) proofs.set(`${table}.${name}`, `${table}.${column}`);
      const [, required] = NOT_NULL.exec(action) ?? [];

      return required === undefined
        ? SAFE_ACTIONS.some((one) => one.test(action))
        : proven.has(`${table}.${required}`);
    });
  };

  for (const statements of transactions) {
    for (const statement of statements) {
      if (!isSafe(statement, statements.filter((one) => changedTable(one)).length - 1)) {
        faults.push(`is not known to be safe: ${statement}`);
      }
    }

    const tables = new Set(
      statements.map(changedTable).filter((table) => table !== undefined && !created.has(table)),
    );

    if (tables.size > 1) {
      faults.push(`locks several tables in one transaction: ${[...tables].join(', ')}`);
    }
  }

  return faults;
}
