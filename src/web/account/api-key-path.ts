/** Paths of the API key page and of the confirmation page for replacing the key. */
export const API_KEY_PAGE_PATH = '/user/api-key';
export const REPLACE_API_KEY_PATH = `${API_KEY_PAGE_PATH}/replace`;
