/** Names are searched in memory now; the pieces of them are not worth what it costs to keep an index. */
export { down as up, up as down } from './0011-search-pieces';
