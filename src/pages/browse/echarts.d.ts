/** ECharts in a single file, which has no types of its own. */
declare module 'echarts/dist/echarts.min.js' {
  export { init } from 'echarts';
}
