import { z } from "zod";

export const getWeatherTool = {
  name: "get_weather",
  description: "The weather of a city now: temperature, condition and humidity",
  version: "1.0.0",
  schema: z.object({
    city: z.string().describe("The name of the city"),
    unit: z.enum(["celsius", "fahrenheit"]).default("celsius"),
  }),
};
