/** Reports invalid values together with invalid ids and missing rows, so that clients receive all errors in the input at once. */
import type { Context } from '../context';
import { InvalidInput } from '../model/errors';
import { IssueCode, type InputIssue } from '../model/validationissues';
import type { RowDraft } from './drafts';
import { validateDrafts } from './validation';

/** Placeholder id of a row to be updated whose given id is missing or invalid. No stored row has this id. */
const PLACEHOLDER_ROW_ID = 0;

/** Adds the issues of missing rows and invalid values to an `InvalidInput` error whose issues all concern ids. Returns any other error unchanged. */
export async function errorWithAllInputIssues(
  error: unknown,
  drafts: readonly RowDraft[],
  context: Context,
  findMissingRowIssues: () => Promise<InputIssue[]> = async () => [],
): Promise<unknown> {
  if (!(error instanceof InvalidInput) || !error.issues.every(({ path }) => path.at(-1) === 'id'))
    return error;
  const paths = new Set(error.issues.map(({ path }) => path.join()));
  const missingRowIssues = (await findMissingRowIssues()).filter(
    ({ path }) => !paths.has(path.join()),
  );
  // A row to be updated whose id is missing or invalid gets a placeholder id. Without an id, it would be validated as a new row, in which required
  // fields must have values.
  for (const draft of drafts)
    if (!draft.parent || draft.inputWithChildRows?.id != null) draft.id ??= PLACEHOLDER_ROW_ID;
  // Uniqueness violations are omitted: detecting them requires the current values of the rows, some of which do not exist.
  const invalidValueIssues = (await findInvalidValueIssues(drafts, context)).filter(
    ({ code }) => code !== IssueCode.NOT_UNIQUE,
  );
  return new InvalidInput([...error.issues, ...missingRowIssues, ...invalidValueIssues]);
}

async function findInvalidValueIssues(
  drafts: readonly RowDraft[],
  context: Context,
): Promise<readonly InputIssue[]> {
  try {
    await validateDrafts(drafts, context);
    return [];
  } catch (error) {
    if (error instanceof InvalidInput) return error.issues;
    throw error;
  }
}
