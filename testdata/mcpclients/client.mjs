// A session of npm's @modelcontextprotocol/sdk or client: client.mjs PACKAGE MODE COMMAND [ARG...], or URL in place of COMMAND.
// MODE is the mode of client's versionNegotiation. Standard input and output are the same as for client.py.
import fs from "node:fs";
import readline from "node:readline";
import timers from "node:timers/promises";

const [name, mode, command, ...args] = process.argv.slice(2);
const isOld = name.endsWith("/sdk");
const { Client } = await import(isOld ? `${name}/client/index.js` : name);
const { StdioClientTransport } = await import(isOld ? `${name}/client/stdio.js` : `${name}/stdio`);
const { StreamableHTTPClientTransport } = await import(isOld ? `${name}/client/streamableHttp.js` : name);

async function open() {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  let transport, version;
  if (command.startsWith("http:")) {
    transport = new StreamableHTTPClientTransport(new URL(command));
  } else {
    transport = new StdioClientTransport({ command, args, env: process.env });
    transport.setProtocolVersion = (v) => { version = v; };
  }
  await client.connect(transport);
  return { client, version: client.getNegotiatedProtocolVersion?.() ?? version ?? transport.protocolVersion };
}

// Makes a call in each of a number of sessions. Returns the distinct results.
async function inSessions({ sessions, at_once, call }) {
  const all = new Set();
  let left = sessions;
  async function some() {
    while (left-- > 0) {
      const { client } = await open();
      all.add(JSON.stringify(await step(client, call)));
      await client.close();
    }
  }
  await Promise.all(Array.from({ length: at_once }, some));
  return { sessions, all: [...all].sort() };
}

async function step(client, { tool, args, cancel }) {
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

const { client, version } = await open();
console.log(version);
for await (const line of readline.createInterface({ input: process.stdin })) {
  const each = JSON.parse(line);
  console.log(JSON.stringify(await (each.sessions ? inSessions(each) : step(client, each))));
}
await client.close();
