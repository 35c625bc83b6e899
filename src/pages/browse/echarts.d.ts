/** Types of the single-file version of ECharts, which has none of its own. */
declare module 'echarts/dist/echarts.min.js' {
  export { init } from 'echarts';
}
