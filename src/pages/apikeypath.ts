/** Paths of the API key page and of the confirmation page for replacing the key. */
export const KEY_PATH = '/user/api-key';
export const REPLACE_KEY_PATH = `${KEY_PATH}/replace`;
