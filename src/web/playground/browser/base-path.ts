/** Path of PUBLIC_URL, below which this server is; usually empty. */
export const BASE_PATH = location.pathname.replace(/\/playground\/?$/, '');
