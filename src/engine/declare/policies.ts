/**
 * Policies that differ between GraphQL and REST. REST behaves like the reference service (wger
 * 2.0).
 */
import type { ApiName } from '../../shared/metadata';

/**
 * Sort order of strings in public resources: by Unicode rules ("Äpfel" next to "Apfel", migration
 * 0052) or by bytes.
 */
export type TextOrder = 'unicode' | 'bytes';

export interface ApiPolicies {
  /**
   * Enforces rules across several fields of a row, such as that a session does not end before it
   * starts.
   */
  enforcesRules: boolean;

  /** Deletes the history of a row, such as the logs of a workout, only if the client asks for it. */
  protectsHistory: boolean;

  /**
   * Lets all users refer to public rows pending review and see their child rows, except
   * contributions of other users. Otherwise only curators may.
   */
  showsUnreviewedRows: boolean;
  textOrder: TextOrder;

  /** Reports a duplicate at its field if only one must be unique, otherwise at the row. */
  namesUniqueField: boolean;

  /** Reports a row that a lookup does not find as NOT_FOUND. Otherwise the field is null. */
  reportsMissingRows: boolean;

  /** Accepts the global id of a row (`nodeId`) as well as its numeric id. */
  acceptsNodeIds: boolean;
}

export const POLICIES_BY_API: Readonly<Record<ApiName, Readonly<ApiPolicies>>> = {
  graphql: {
    enforcesRules: true,
    protectsHistory: true,
    showsUnreviewedRows: false,
    textOrder: 'unicode',
    namesUniqueField: true,
    reportsMissingRows: false,
    acceptsNodeIds: true,
  },
  rest: {
    enforcesRules: false,
    protectsHistory: false,
    showsUnreviewedRows: true,
    textOrder: 'bytes',
    namesUniqueField: false,
    reportsMissingRows: true,
    acceptsNodeIds: false,
  },
};
