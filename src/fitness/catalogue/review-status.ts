/** Review status of contributions to the catalogue. Only accepted ones are visible to everybody. */
import { registerChoices } from '../../engine/declare/choices';

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

export const REVIEW_STATUS_FIELD_OPTIONS = {
  label: 'Status',
  description: 'Only accepted ones are visible to everyone.',
  choices: REVIEW_STATUS_CHOICES,
  default: PENDING_STATUS,
  max: 2,
} as const;
