import { z } from "zod";

export const getForecastTool = {
  name: "get_forecast",
  description:
    "The weather of a city on the next days, " + //
    "a line a day",
  version: "1.1.0",
  schema: z.object({
    city: z.string().describe("The name of the city"),
    days: z.number().int().min(1).max(7),
  }),
};
