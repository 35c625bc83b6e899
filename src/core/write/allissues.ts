/** Reports invalid values together with missing rows, so that clients receive all errors in the input at once. */
import type { Context } from '../context';
import { InvalidInput } from '../model/errors';
import { IssueCode, type InputIssue } from '../model/validationissues';
import type { RowDraft } from './drafts';
import { validateDrafts } from './validation';

/** Stands for the id of a row that does not exist. */
const MISSING_ROW_ID = 0;

/**
 * If `error` rejects an update because of invalid ids, returns an error that also lists the missing rows and the invalid values. Returns other errors
 * unchanged.
 */
export async function withAllIssues(
  error: unknown,
  drafts: readonly RowDraft[],
  context: Context,
  findMissingRows: () => Promise<InputIssue[]> = async () => [],
): Promise<unknown> {
  if (!(error instanceof InvalidInput) || !error.mistakes.every(({ path }) => path.at(-1) === 'id')) return error;
  const paths = new Set(error.mistakes.map(({ path }) => path.join()));
  const missing = (await findMissingRows()).filter(({ path }) => !paths.has(path.join()));
  // Existing rows need no values for required fields.
  for (const draft of drafts) if (!draft.above || draft.whole?.id != null) draft.id ??= MISSING_ROW_ID;
  // Whether values are unique depends on the missing rows.
  const invalid = (await issuesOf(drafts, context)).filter(({ code }) => code !== IssueCode.NOT_UNIQUE);
  return new InvalidInput([...error.mistakes, ...missing, ...invalid]);
}

async function issuesOf(drafts: readonly RowDraft[], context: Context): Promise<readonly InputIssue[]> {
  try {
    await validateDrafts(drafts, context);
    return [];
  } catch (error) {
    if (error instanceof InvalidInput) return error.mistakes;
    throw error;
  }
}
