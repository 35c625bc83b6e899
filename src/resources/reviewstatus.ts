/** Review status of contributions to the catalogue. Only accepted contributions are visible to everybody. */
import { registerChoices } from '../core/model/choices';

export const PENDING = '1';
export const ACCEPTED = '2';

const REVIEW_STATUS_CHOICES = registerChoices('ReviewStatus', 'The state of the review of a contribution.', [
  ['PENDING', PENDING, 'Pending', 'No decision has been made yet.'],
  ['ACCEPTED', ACCEPTED, 'Accepted', 'Accepted: visible to everyone.'],
  ['DECLINED', '3', 'Declined', 'Rejected.'],
]);

export const REVIEW_STATUS_OPTIONS = {
  label: 'Status',
  note: 'Only accepted ones are visible to everyone.',
  choices: REVIEW_STATUS_CHOICES,
  default: PENDING,
  max: 2,
} as const;
