/** Where the key page is, and the question before the key is replaced. */
export const KEY_PATH = '/user/api-key';
export const REPLACE_PATH = `${KEY_PATH}/replace`;
