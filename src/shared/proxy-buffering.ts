/**
 * Headers of streamed responses: nginx, which buffers responses by default, passes them on at once
 * (https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering).
 */
export const UNBUFFERED_HEADERS = { 'X-Accel-Buffering': 'no' };
