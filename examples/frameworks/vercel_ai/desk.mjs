// An agent of the AI SDK behind HTTP. A script stands for the model, so that it needs no key.
import { createServer } from "node:http";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";

const PRICES = { Paris: 120, Oslo: 95 };

const book = tool({
  description: "Book a room.",
  inputSchema: jsonSchema({
    type: "object",
    properties: { city: { type: "string" }, nights: { type: "integer" } },
    required: ["city", "nights"],
  }),
  execute: async ({ city, nights }) => {
    if (!(city in PRICES)) throw new Error(`there are no rooms in ${city}`);
    return { city, nights, total: PRICES[city] * nights };
  },
});

// With a real model, this is `model: openai("gpt-4o-mini")`.
const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => ({
    content: [reply(prompt)],
    finishReason: { unified: "stop" },
    usage: { inputTokens: { total: 20 }, outputTokens: { total: 5 } },
    warnings: [],
  }),
});

function reply(prompt) {
  const last = prompt.at(-1);
  if (last.role === "tool") {
    const { value } = last.content[0].output;
    return { type: "text", text: value.total ? `Booked for ${value.total} euros.` : `Sorry: ${value}` };
  }
  const said = prompt.filter(({ role }) => role === "user").flatMap(({ content }) => content.map(({ text }) => text)).join(" ");
  const city = said.match(/Paris|Oslo|Atlantis/)?.[0];
  const nights = said.match(/(\d+) nights/)?.[1];
  if (!city) return { type: "text", text: "Which city would you like to stay in?" };
  if (!nights) return { type: "text", text: "How many nights?" };
  return { type: "tool-call", toolCallId: "1", toolName: "book", input: JSON.stringify({ city, nights: Number(nights) }) };
}

async function answer({ messages }) {
  const { text, steps, totalUsage } = await generateText({ model, messages, tools: { book }, stopWhen: stepCountIs(5) });
  const ended = steps.flatMap(({ content }) => content).filter(({ type }) => type === "tool-result" || type === "tool-error");
  return {
    response: text,
    tool_calls: ended.map(({ toolName, input, output, error }) => ({
      name: toolName,
      params: input,
      success: error === undefined,
      ...(error === undefined ? { result: output } : { error: String(error.message ?? error) }),
    })),
    usage: { inputTokens: totalUsage.inputTokens, outputTokens: totalUsage.outputTokens },
  };
}

const server = createServer(async (request, response) => {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
  response.setHeader("content-type", "application/json");
  try {
    response.end(JSON.stringify(await answer(body)));
  } catch (error) {
    response.statusCode = 500;
    response.end(JSON.stringify({ error: String(error) }));
  }
});
server.listen(Number(process.env.PORT ?? 8124), "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
