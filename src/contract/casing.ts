/** How one name is written in two places. Where they differ in more than that, the schema says so. */

/** `createdOn` in code and in GraphQL is `created_on` in the database and in REST. */
export const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The value of an enum for what is `createdOn` elsewhere: `CREATED_ON`. */
export const constant = (name: string) => snake(name).toUpperCase();

/** The query parameter for an argument of an action; an argument that takes an id is named by the resource alone. */
export const parameter = (argument: string) => snake(argument).replace(/_id$/, '');

export const camel = (name: string) => name.replace(/_[a-z]/g, (letter) => letter[1]!.toUpperCase());
