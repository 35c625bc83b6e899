/** `creationDate` in GraphQL is `creation_date` in REST, where the schema does not say otherwise. */
export const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
