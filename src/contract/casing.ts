/** How one name is written in two places. Where they differ in more than that, the schema says so. */

/** `creationDate` in code and in GraphQL is `creation_date` in the database and in REST. */
export const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const camel = (name: string) => name.replace(/_[a-z]/g, (letter) => letter[1]!.toUpperCase());
