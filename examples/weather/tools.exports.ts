// The barrel file: one export a tool. evalc reads it, and never runs it.

export { getForecastTool } from "./get-forecast.tool";
export { getWeatherTool } from "./get-weather.tool";
