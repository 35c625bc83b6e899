/** Hostile texts. */

export const MARKUP: readonly string[] = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'--><svg onload=alert(1)>",
  '" onfocus=alert(1) autofocus x="',
  'javascript:alert(1)',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '</script></style></textarea></title></pre></option></select><script>alert(1)</script>',
  "{{constructor.constructor('alert(1)')()}}${alert(1)}",
  '<!--<script>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  'http://x/"onclick="alert(1)',
  '/media/"onerror="alert(1).png',
];

export const SQL: readonly string[] = [
  "'",
  "' OR '1'='1",
  "'; DROP TABLE workout; --",
  '"; DROP TABLE workout; --',
  "1' UNION SELECT password FROM user_account --",
  '1 OR 1=1',
  '1); SELECT pg_sleep(60); --',
  "\\'; SELECT pg_sleep(60); --",
  '$1',
  '%',
  '?',
  ':id',
  '1e999999',
  '9'.repeat(400),
  '\u0000',
  '\ud800',
];
