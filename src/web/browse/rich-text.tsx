/** Renders text between backticks as code, as in descriptions of the GraphQL schema. */
export const TextWithCode = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, index) => (index % 2 ? <code>{part}</code> : part))}</>
);

const DATE_PATTERN = /(\d{4}-\d\d-\d\d)/;

/** Renders text without line breaks inside dates such as 2026-01-31. */
export const TextWithUnbrokenDates = ({ text }: { text: string }) => (
  <>
    {text
      .split(DATE_PATTERN)
      .map((part, index) => (index % 2 ? <span class="unbroken">{part}</span> : part))}
  </>
);
