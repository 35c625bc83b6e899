/** Paths of the pages of an account. */
export const ACCOUNT_PAGE_PATH = '/user';
export const DELETE_ACCOUNT_PATH = `${ACCOUNT_PAGE_PATH}/delete`;
export const API_KEY_PAGE_PATH = `${ACCOUNT_PAGE_PATH}/api-key`;
export const REPLACE_API_KEY_PATH = `${API_KEY_PAGE_PATH}/replace`;
export const PROVIDER_SIGN_IN_PATH = '/login/provider';

/** The page that opens after a sign-in: the lists of the user's data. */
export const DATA_PAGE_PATH = '/api/v2/';
