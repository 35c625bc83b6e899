/** Review status of contributions to the catalogue. Only accepted ones are visible to everybody. */
import { isCurator } from '../../engine/access/access';
import type { Context } from '../../engine/context';
import { registerChoices } from '../../engine/declare/choices';
import { RETIRED_COLUMN, type FieldValues } from '../../engine/declare/registry';

export const PENDING_STATUS = '1';
export const ACCEPTED_STATUS = '2';

const REVIEW_STATUS_CHOICES = registerChoices(
  'ReviewStatus',
  'The state of the review of a contribution.',
  [
    ['PENDING', PENDING_STATUS, 'Pending', 'No decision has been made yet.'],
    ['ACCEPTED', ACCEPTED_STATUS, 'Accepted', 'Accepted: visible to everyone.'],
    ['DECLINED', '3', 'Declined', 'Rejected.'],
  ],
);

/** Values of rows that everyone sees. */
export const PUBLISHED_COLUMN_VALUES = {
  status: ACCEPTED_STATUS,
  [RETIRED_COLUMN]: false,
} as const;

/**
 * Rows of curators are accepted. Rows of other users are pending until a curator decides, and only
 * curators retire them.
 */
export function addReviewValues(values: FieldValues, context: Context, id?: number): void {
  if (isCurator(context, 'write')) {
    if (id === undefined) values.status = ACCEPTED_STATUS;

    return;
  }

  values.status = PENDING_STATUS;

  delete values.isRetired;
  delete values.refusalReason;
}

export const RETIRED_FIELD_OPTIONS = {
  label: 'Retired',
  description:
    'Whether it is hidden from lists, searches and new references. Only curators may set it.',
  default: false,
  hiddenInRest: true,
  restSortable: false,
} as const;

export const REFUSAL_REASON_FIELD_OPTIONS = {
  label: 'Refusal reason',
  description: 'Why a curator has declined it, for its contributor.',
  max: 500,
  allowNull: true,
  allowBlank: true,
  hiddenInRest: true,
  restSortable: false,
} as const;

export const REVIEW_STATUS_FIELD_OPTIONS = {
  label: 'Status',
  description: 'Only accepted ones are visible to everyone.',
  choices: REVIEW_STATUS_CHOICES,
  default: PENDING_STATUS,
  max: 2,
} as const;
