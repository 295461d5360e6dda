// A session of npm's @modelcontextprotocol/sdk or client: client.mjs PACKAGE MODE COMMAND [ARG...].
// MODE is that of client's versionNegotiation. Standard input and output are those of client.py.
import fs from "node:fs";
import readline from "node:readline";
import timers from "node:timers/promises";

const [name, mode, command, ...args] = process.argv.slice(2);
const isOld = name.endsWith("/sdk");
const { Client } = await import(isOld ? `${name}/client/index.js` : name);
const { StdioClientTransport } = await import(isOld ? `${name}/client/stdio.js` : `${name}/stdio`);

const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
const transport = new StdioClientTransport({ command, args, env: process.env });
let version;
transport.setProtocolVersion = (v) => { version = v; };

async function step({ tool, args, cancel }) {
  if (!tool) return (await client.listTools()).tools.map((t) => t.name);
  const abort = new AbortController(), progress = [];
  const options = {
    signal: abort.signal,
    onprogress: ({ message }) => {
      progress.push(message);
      if (args.seen) fs.writeFileSync(args.seen + message, "");
    },
  };
  const params = { name: tool, arguments: args };
  const call = isOld ? client.callTool(params, undefined, options) : client.callTool(params, options);
  if (cancel) {
    const canceled = call.then(() => false, () => true);
    while (!fs.existsSync(args.marker)) await timers.setTimeout(10);
    abort.abort();
    return { canceled: await canceled };
  }
  try {
    const { isError = false, content, structuredContent = null } = await call;
    return { error: isError, text: content.map((c) => c.text).join(""), structured: structuredContent, progress };
  } catch (e) {
    return { code: e.code };
  }
}

await client.connect(transport);
console.log(client.getNegotiatedProtocolVersion?.() ?? version);
for await (const line of readline.createInterface({ input: process.stdin })) console.log(JSON.stringify(await step(JSON.parse(line))));
await client.close();
